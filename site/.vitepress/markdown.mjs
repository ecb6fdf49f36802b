// What the site makes of the Markdown beyond what VitePress does: tabs by language, names of
// files, and links that GitHub understands.
import { relative } from "node:path";
import { isPage, linked, root, toPage } from "./pages.mjs";

export function markdown(md) {
  md.core.ruler.push("files", ({ tokens }) => tokens.forEach(nameFile));
  md.core.ruler.push("tabs", tabs);
  md.core.ruler.push("links", ({ tokens, env }) => {
    const from = relative(root, env.realPath ?? env.path);
    const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
    for (const token of all) {
      if (token.type === "text" && token.content.includes("{{"))
        throw new Error(`${from}: Vue evaluates {{ outside of code`);
      for (const attribute of ["href", "src"]) {
        if (token.attrGet(attribute)) token.attrSet(attribute, place(token.attrGet(attribute), from));
      }
      if (/^html_/.test(token.type)) {
        token.content = token.content.replace(
          /(\s(?:href|src|srcset)=")([^"]+)/g,
          (_, name, url) => name + place(url, from),
        );
      }
    }
  });
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, i, ...rest) => {
    const { file } = tokens[i].meta ?? {};
    const block = fence(tokens, i, ...rest);
    return file ? `<figure class="file"><figcaption>${md.utils.escapeHtml(file)}</figcaption>${block}</figure>` : block;
  };
}

// "```js app.mjs" is the file app.mjs.
function nameFile(token) {
  const [, language, file] = (token.type === "fence" && /^(\S+)\s+([^\s{[:]\S*)$/.exec(token.info.trim())) || [];
  if (file) Object.assign(token, { info: language, meta: { file } });
}

// Two or more pairs of a bold label and a fence become tabs.
function tabs(state) {
  const { tokens } = state;
  const labelAt = (i) => {
    const [open, inline, close, fence] = tokens.slice(i, i + 4).map((token) => token.type);
    if (`${open} ${inline} ${close} ${fence}` !== "paragraph_open inline paragraph_close fence") return undefined;
    return /^\*\*([^*]+)\*\*$/.exec(tokens[i + 1].content)?.[1];
  };
  for (let i = 0; i < tokens.length; i++) {
    const labels = [];
    while (labelAt(i + 4 * labels.length)) labels.push(labelAt(i + 4 * labels.length));
    if (labels.length < 2) continue;
    const html = (content) => Object.assign(new state.Token("html_block", "", 0), { content });
    const panels = labels.flatMap((_, n) => [
      html(`<template #tab${n}>\n`),
      tokens[i + 4 * n + 3],
      html("</template>\n"),
    ]);
    const list = state.md.utils.escapeHtml(JSON.stringify(labels));
    tokens.splice(
      i,
      4 * labels.length,
      html(`<LanguageTabs :labels="${list}">\n`),
      ...panels,
      html("</LanguageTabs>\n"),
    );
    i += panels.length + 1;
  }
}

// A page's address on the site, and that of another file on GitHub. Vite takes pictures.
function place(url, from) {
  const { target, hash, address } = linked(url, from);
  if (!target || address) return address ?? url;
  return isPage(target) ? `/${toPage(target)}${hash}` : `./${url}`;
}
