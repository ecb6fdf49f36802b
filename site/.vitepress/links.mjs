// Finds dead links: in the built site, in the Markdown of the checkout, and where a program or
// a text names a page of docs/.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import GithubSlugger from "github-slugger";
import { linked, plain, read, root } from "./pages.mjs";

const found = (text, pattern) => [...text.matchAll(pattern)].map((match) => match[1]);

// All that the site's pages load and link to is part of it, and outside of it they link only to
// other sites by https. Returns a line for each that is not.
export function deadLinks(outDir, base) {
  const files = new Set(readdirSync(outDir, { recursive: true }));
  const text = new Map(
    [...files].filter((file) => file.endsWith(".html")).map((file) => [file, readFileSync(join(outDir, file), "utf8")]),
  );
  const ids = new Map([...text].map(([file, html]) => [file, new Set(found(html, /\sid="([^"]+)"/g))]));
  const dead = (url, from) => {
    const { origin, pathname, hash, protocol } = new URL(url.replaceAll("&amp;", "&"), `http://site${base}${from}`);
    if (origin !== "http://site")
      return !/^(https|mailto|data):$/.test(protocol) && !/^http:\/\/localhost[:/]/.test(url);
    const file = decodeURI(pathname)
      .slice(base.length)
      .replace(/(^|\/)$/, "$1index.html");
    if (!pathname.startsWith(base) || !files.has(file)) return true;
    return hash !== "" && ids.has(file) && !ids.get(file).has(decodeURIComponent(hash.slice(1)));
  };
  return [...text].flatMap(([file, html]) =>
    found(html, /<[^>]+\s(?:href|src)="([^"]*)"/g)
      .filter((url) => dead(url, file))
      .map((url) => `the site's page ${file}: dead link ${url}`),
  );
}

export function deadMentions() {
  const git = (...args) =>
    execFileSync("git", ["-C", root, ...args], { encoding: "utf8", maxBuffer: 1 << 28 })
      .trim()
      .split("\n");
  const problems = [];
  for (const file of git("ls-files", "--cached", "--others", "--exclude-standard", "*.md")) {
    if (!existsSync(root + file)) continue; // removed, and not yet committed
    plain(read(file), (url) => {
      const { target, hash } = linked(url, file);
      if (target && !alive(target, hash)) problems.push(`${file}: dead link ${url}`);
      return url;
    });
  }
  for (const line of git(
    "grep",
    "--untracked",
    "-IoE",
    "(^|[^A-Za-z0-9./_-]|main/|(\\.\\./)+)docs/[A-Za-z0-9_/-]+\\.md(#[a-z0-9_-]+)?",
  )) {
    const [, file, target, hash] = /^([^:]+):.*?(docs\/[^#]+\.md)(#.*)?$/.exec(line);
    if (!alive(target, hash ?? "")) problems.push(`${file}: there is no ${target}${hash ?? ""}`);
  }
  return new Set(problems);
}

const anchors = new Map();
function alive(file, hash) {
  if (!existsSync(root + file)) return false;
  if (hash === "" || !file.endsWith(".md")) return true;
  if (!anchors.has(file)) {
    const slugger = new GithubSlugger();
    const text = read(file).replace(/^ *```[\s\S]*?^ *```$/gm, "");
    const headings = found(text, /^#+ +(.*)$/gm).map((heading) =>
      slugger.slug(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "")),
    );
    anchors.set(file, new Set([...headings, ...found(text, /\s(?:id|name)="([^"]+)"/g)]));
  }
  return anchors.get(file).has(decodeURIComponent(hash.slice(1)));
}
