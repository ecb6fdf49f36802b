// After the build: each page as plain Markdown, llms.txt (https://llmstxt.org), and the check
// of the navigation and of all links.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { deadLinks, deadMentions } from "./links.mjs";
import { describe, isPage, linked, plain, read, root, sections, source, title, toPage } from "./pages.mjs";

export function finish({ outDir, pages, site }, warnings) {
  for (const page of pages) writePlain(page, outDir);
  writeFileSync(join(outDir, "llms.txt"), llms());
  const shown = Object.values(sections).flat().map(source);
  const problems = [
    ...warnings,
    ...pages
      .filter((page) => !shown.includes(page))
      .map((page) => `${page} is not in the navigation, site/.vitepress/pages.mjs`),
    ...deadLinks(outDir, site.base),
    ...deadMentions(),
  ];
  if (problems.length > 0) throw new Error(`\n${problems.sort().join("\n")}`);
}

// The Markdown of a page, with links that work beside its HTML.
function writePlain(file, outDir) {
  const to = toPage(file);
  const text = plain(read(file), (url) => {
    const { target, hash, address } = linked(url, file);
    if (!target || address) return address ?? url;
    if (!isPage(target)) {
      mkdirSync(dirname(join(outDir, toPage(target))), { recursive: true });
      copyFileSync(root + target, join(outDir, toPage(target))); // a picture
    }
    return posix.relative(posix.dirname(to), toPage(target)) + hash;
  });
  writeFileSync(join(outDir, to), text);
}

function llms() {
  const parts = [`# Millrace\n\n> ${describe("index")}\n`];
  for (const [section, pages] of Object.entries(sections)) {
    const lines = pages.map((page) => `- [${title(page)}](${page}.md): ${describe(page)}\n`);
    parts.push(`## ${section}\n\n${lines.join("")}`);
  }
  return parts.join("\n");
}
