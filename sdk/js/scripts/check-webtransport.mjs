// Fails when src uses a member of WebTransport that is not among those that
// Chromium, Firefox and Safari have in common. What one of them lacks must be
// looked for at run time: such members are declared by src itself, as Datagrams is.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

// By interface of the standard's types. Chromium 97, Firefox 114 and Safari 26.4 have all of them.
const shared = {
  WebTransport: ["ready", "closed", "close", "createBidirectionalStream", "datagrams"],
  WebTransportBidirectionalStream: ["readable", "writable"],
  WebTransportCloseInfo: ["closeCode", "reason"],
  WebTransportOptions: ["serverCertificateHashes"], // only of edges for development
};

const src = fileURLToPath(new URL("../src/", import.meta.url));
const tsconfig = fileURLToPath(new URL("../tsconfig.json", import.meta.url));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(tsconfig, ts.sys.readFile).config,
  ts.sys,
  `${src}..`,
);
const files = readdirSync(src, { recursive: true })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => src + name);
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();
const used = new Set();

// note remembers a member of one of the standard's interfaces.
function note(symbol) {
  const owner = symbol?.declarations?.[0]?.parent;
  if (owner && ts.isInterfaceDeclaration(owner) && owner.name.text.startsWith("WebTransport")) {
    used.add(`${owner.name.text}.${symbol.name}`);
  }
}

function visit(node) {
  if (ts.isPropertyAccessExpression(node)) note(checker.getSymbolAtLocation(node.name));
  if (ts.isBindingElement(node)) {
    const type = checker.getTypeAtLocation(node.parent);
    note(type.getProperty((node.propertyName ?? node.name).getText()));
  }
  if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) {
    const type = checker.getContextualType(node.parent);
    if (type) note(checker.getNonNullableType(type).getProperty(node.name.getText()));
  }
  ts.forEachChild(node, visit);
}
for (const file of files) visit(program.getSourceFile(file));

const allowed = new Set(Object.entries(shared).flatMap(([owner, names]) => names.map((name) => `${owner}.${name}`)));
const complaints = [
  ...[...used]
    .filter((member) => !allowed.has(member))
    .map((member) => `src uses ${member}, which not every browser has`),
  ...[...allowed]
    .filter((member) => !used.has(member))
    .map((member) => `src does not use ${member}: take it off the list`),
];
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
