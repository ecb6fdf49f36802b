import { readdirSync, readFileSync } from "node:fs";
import { slug } from "github-slugger";
import { createLogger } from "vite";
import { defineConfig } from "vitepress";
import { finish } from "./finish.mjs";
import { markdown } from "./markdown.mjs";
import { describe, repository, root, sections, title, toPage } from "./pages.mjs";

const warnings = [];
const logger = createLogger();
logger.warn = logger.warnOnce = (message) => warnings.push(message);

const others = readdirSync(root).filter((name) => name !== "README.md" && name !== "docs");
const icon = readFileSync(`${root}caddymodule/console/page/icon.svg`, "base64");
const items = (pages) => pages.map((page) => ({ text: title(page), link: page === "index" ? "/" : `/${page}` }));
const titled = Object.entries(sections).map(([text, pages]) => ({ text, items: items(pages) }));

// As for pages, without colours.
function renderForSearch(markdown, env, md) {
  const { highlight } = md.options;
  md.options.highlight = null;
  const html = md.render(markdown, env);
  md.options.highlight = highlight;
  return html;
}

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
  transformPageData: (page) => ({ description: page.filePath && describe(toPage(page.filePath).replace(/\.md$/, "")) }),
  transformHead: ({ pageData, siteConfig }) =>
    pageData.filePath
      ? [["link", { rel: "alternate", type: "text/markdown", href: siteConfig.site.base + pageData.relativePath }]]
      : [],
  markdown: {
    config: markdown,
    anchor: { slugify: slug },
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    languageAlias: { caddyfile: "nginx", haproxy: "nginx" },
  },
  themeConfig: {
    search: { provider: "local", options: { _render: renderForSearch } },
    nav: [
      ...titled.map(({ text, items }) => ({
        text,
        link: items[0].link,
        activeMatch: `^/(${items.map(({ link }) => link.slice(1)).join("|")})(\\.html)?$`,
      })),
      { text: "GitHub", link: repository },
    ],
    sidebar: titled,
    outline: [2, 3],
  },
  vite: {
    // The pages are outside of this folder, which has Vue.
    plugins: [
      {
        name: "vue",
        enforce: "pre",
        resolveId: (id, _, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : null),
      },
    ],
    customLogger: logger,
    build: { chunkSizeWarningLimit: 4096 }, // the index of the search
    server: { watch: { ignored: others.filter((name) => name !== "site").map((name) => `${root}${name}/**`) } },
  },
  buildEnd: (site) => finish(site, warnings),
});
