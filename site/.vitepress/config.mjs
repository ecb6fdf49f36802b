import { readFileSync, readdirSync } from "node:fs";
import { slug } from "github-slugger";
import { createLogger } from "vite";
import { defineConfig } from "vitepress";
import { finish } from "./finish.mjs";
import { markdown } from "./markdown.mjs";
import { describe, repository, root, sections, toPage } from "./pages.mjs";

const warnings = [];
const logger = createLogger();
logger.warn = logger.warnOnce = (message) => warnings.push(message);

const others = readdirSync(root).filter((name) => name !== "README.md" && name !== "docs");
const icon = readFileSync(`${root}caddymodule/console/page/icon.svg`, "base64");
const items = (pages) => Object.entries(pages).map(([page, text]) => ({ text, link: page === "index" ? "/" : `/${page}` }));
const titled = Object.entries(sections).map(([text, pages]) => ({ text, items: items(pages) }));

export default defineConfig({
  title: "Millrace",
  lang: "en",
  srcDir: "..",
  srcExclude: ["docs/decisions", ...others].map((name) => `${name}{,/**}`),
  rewrites: toPage,
  ignoreDeadLinks: true, // finish checks more
  outDir: "../dist/docs",
  cacheDir: "node_modules/.vitepress",
  head: [["link", { rel: "icon", href: `data:image/svg+xml;base64,${icon}` }]],
  transformPageData: (page) => ({ description: describe(page.filePath) }),
  transformHead: ({ pageData, siteConfig }) =>
    pageData.filePath ? [["link", { rel: "alternate", type: "text/markdown", href: siteConfig.site.base + pageData.relativePath }]] : [],
  markdown: { config: markdown, anchor: { slugify: slug }, languageAlias: { caddyfile: "nginx", haproxy: "nginx" } },
  themeConfig: {
    search: { provider: "local" },
    nav: titled.map(({ text, items }) => ({
      text,
      link: items[0].link,
      activeMatch: `^/(${items.map(({ link }) => link.slice(1)).join("|")})(\\.html)?$`,
    })),
    sidebar: titled,
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: repository }],
  },
  vite: {
    // The pages are outside of this folder, which has Vue.
    plugins: [{ name: "vue", enforce: "pre", resolveId: (id, _, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : null) }],
    customLogger: logger,
    build: { chunkSizeWarningLimit: 4096 }, // the index of the search
    server: { watch: { ignored: others.filter((name) => name !== "site").map((name) => `${root}${name}/**`) } },
  },
  buildEnd: (site) => finish(site, warnings),
});
