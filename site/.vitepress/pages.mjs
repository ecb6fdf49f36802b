// The pages of the site, in the order of its navigation, by their paths without `docs/` and
// `.md`. `index` is README.md.
import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)); // the checkout
export const repository = "https://github.com/millrace/millrace";

export const sections = {
  Start: {
    index: "Millrace",
    "quickstart/react": "React in five minutes",
    "quickstart/browser": "Browser in five minutes",
    "quickstart/node": "Node in five minutes",
    "quickstart/python": "Python in five minutes",
    "quickstart/go": "Go in five minutes",
    concepts: "Concepts",
    comparison: "Comparison",
  },
  "How-to": {
    "how-to/tokens": "Issue and revoke tokens",
    "how-to/login-and-logout": "Login and logout",
    "how-to/typing": "Who is typing",
    "how-to/presence": "Who is here",
    "how-to/scroll-back": "Scroll back",
    "how-to/outbox": "Outbox",
    "how-to/optimistic-update": "Optimistic update",
    "how-to/streaming-answers": "Streaming answers",
    "how-to/testing": "Test your app",
    "how-to/work-queues": "Work queues",
    "how-to/serverless": "Serverless backends",
    "how-to/php": "PHP",
    "how-to/nextjs": "Next.js",
    "how-to/vue": "Vue",
    "how-to/svelte": "Svelte",
    "how-to/nginx": "nginx",
    "how-to/cloudflare": "Cloudflare",
    "how-to/kubernetes": "Kubernetes",
    "how-to/production": "From dev to production",
  },
  Reference: {
    "reference/typescript": "TypeScript",
    "reference/react": "React",
    "reference/go": "Go",
    "reference/python": "Python",
    errors: "Errors",
    configuration: "Configuration",
    protocol: "Protocol",
    history: "Histories",
    "where-it-runs": "Where it runs",
    "writing-a-client": "Write a client",
    extending: "Extend an edge",
    architecture: "Architecture",
  },
  Operations: {
    install: "Install",
    containers: "Containers",
    operations: "Operations",
    console: "Console",
    clustering: "Clustering",
    security: "Security",
    hardening: "Hardening",
    networks: "Networks",
    performance: "Performance",
    backups: "Backups",
    upgrading: "Upgrading",
  },
};

// Until all pages are written, what is missing is left out, and problems are only printed.
export const complete = false;
if (!complete) {
  for (const [section, pages] of Object.entries(sections)) {
    for (const page of Object.keys(pages)) if (!existsSync(root + source(page))) delete pages[page];
    if (Object.keys(pages).length === 0) delete sections[section];
  }
}

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
  if (isPage(target) || (/\.(png|svg|webp|gif|avif|jpe?g|mp4|webm)$/.test(target) && existsSync(root + target))) return { target, hash };
  const kind = existsSync(root + target) && statSync(root + target).isDirectory() ? "tree" : "blob";
  return { target, hash, address: `${repository}/${kind}/main/${target}${hash}` };
}

// Markdown whose links are what change makes of them.
export function plain(markdown, change) {
  const parts = markdown.split(/(^ *```[^]*?^ *```$)/m); // every second one is a fence
  const link = /(\]\(|<[a-z][^>]*\s(?:href|src|srcset)=")([^)\s"]+)/g;
  return parts.map((part, i) => (i % 2 ? part : part.replace(link, (_, before, url) => before + change(url)))).join("");
}

// The first paragraph, as plain text.
export function describe(file) {
  const paragraph = read(file)
    .split(/\n\s*\n/)
    .find((text) => /^[*_`[]*\w/.test(text.trim()));
  return paragraph
    .trim()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]+/g, "")
    .replace(/\s+/g, " ");
}
