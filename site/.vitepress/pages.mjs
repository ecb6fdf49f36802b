// The pages of the site, in the order of its navigation, by their paths without `docs/` and
// `.md`. `index` is README.md.
import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)); // the checkout
export const repository = "https://github.com/millrace/millrace";

export const sections = {
  Start: [
    "index",
    "quickstart/react",
    "quickstart/browser",
    "quickstart/node",
    "quickstart/python",
    "quickstart/go",
    "concepts",
    "comparison",
  ],
  "How-to": [
    "how-to/tokens",
    "how-to/login-and-logout",
    "how-to/typing",
    "how-to/presence",
    "how-to/scroll-back",
    "how-to/outbox",
    "how-to/optimistic-update",
    "how-to/streaming-answers",
    "how-to/testing",
    "how-to/work-queues",
    "how-to/serverless",
    "how-to/php",
    "how-to/nextjs",
    "how-to/vue",
    "how-to/svelte",
    "how-to/nginx",
    "how-to/cloudflare",
    "how-to/kubernetes",
    "how-to/production",
  ],
  Reference: [
    "reference/typescript",
    "reference/react",
    "reference/go",
    "reference/python",
    "errors",
    "configuration",
    "reference/metrics",
    "protocol",
    "history",
    "where-it-runs",
    "writing-a-client",
    "extending",
    "architecture",
  ],
  Operations: [
    "install",
    "containers",
    "operations",
    "console",
    "clustering",
    "security",
    "hardening",
    "networks",
    "performance",
    "backups",
    "upgrading",
  ],
};

const missing = Object.values(sections)
  .flat()
  .map(source)
  .filter((file) => !existsSync(root + file));
if (missing.length > 0)
  throw new Error(`in the navigation, site/.vitepress/pages.mjs, and missing: ${missing.join(", ")}`);

export function source(page) {
  return page === "index" ? "README.md" : `docs/${page}.md`;
}

export const toPage = (file) => file.replace(/^docs\//, "").replace(/^README\.md$/, "index.md");
export const isPage = (file) => file === "README.md" || /^docs\/(?!decisions\/).*\.md$/.test(file);
export const read = (file) => readFileSync(root + file, "utf8");

// Where a link of a file leads: to the file target, which has an address on GitHub if it is not
// part of the site. A link to another site, or within the page, has no target.
export function linked(url, from) {
  if (/^([a-z][a-z0-9+.-]*:|\/|$)/i.test(url)) return {};
  const [, path, hash] = /^([^#]*)(.*)$/.exec(url);
  if (path === "") return { target: from, hash, address: hash };
  const target = posix.join(posix.dirname(from), decodeURI(path));
  if (isPage(target) || (/\.(png|svg|webp|gif|avif|jpe?g|mp4|webm)$/.test(target) && existsSync(root + target)))
    return { target, hash };
  const kind = existsSync(root + target) && statSync(root + target).isDirectory() ? "tree" : "blob";
  return { target, hash, address: `${repository}/${kind}/main/${target}${hash}` };
}

// Markdown whose links are what change makes of them.
export function plain(markdown, change) {
  const parts = markdown.split(/(^ *```[\s\S]*?^ *```$)/m); // every second one is a fence
  const link = /(\]\(|<[a-z][^>]*\s(?:href|src|srcset)=")([^)\s"]+)/g;
  return parts.map((part, i) => (i % 2 ? part : part.replace(link, (_, before, url) => before + change(url)))).join("");
}

export const title = (page) => /^# (.*)$/m.exec(read(source(page)))[1].replaceAll("`", "");

// What a page is for: the first sentences of its first paragraph, as plain text.
export function describe(page) {
  const paragraph = read(source(page))
    .split(/\n\s*\n/)
    .map((text) => text.trim())
    .find((text) => /^[*_`[]*\w/.test(text));
  const text = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]+/g, "")
    .replace(/\s+/g, " ");
  const sentences = text.match(/.+?[.!?](?= |$)/g) ?? [text];
  const fit = sentences.filter((_, i) => sentences.slice(0, i + 1).join("").length <= 200);
  return fit.join("") || sentences[0];
}
