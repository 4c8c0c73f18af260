// Writes docs/reference/ from the source: options, commands, errors, and the JSON Schema of the configuration. Needs a
// build. `--check` writes nothing and fails if a page is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const load = (path) => import(join(root, "packages", "toolyard", "build", path));

const { CONFIG_SCHEMA } = await load("hub/schema.js");
const { publishedSchema } = await load("config/json-schema.js");
const { KINDS } = await load("core/calls/kinds.js");
const { createProgram } = await load("cli/program.js");

const NOTE = "<!-- Written by `npm run reference`; edit the source instead. -->\n\n";

function typeOf(schema) {
  if (schema.writeOnly) return "secret";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === "object")
    return schema.properties ? "table" : `table of ${typeOf(schema.additionalProperties ?? {})}`;
  return schema.format === "path" ? "path" : (schema.type ?? "any value");
}

function rows(schema, prefix = "") {
  return Object.entries(schema.properties ?? {}).flatMap(([key, option]) => {
    const name = `${prefix}${key}`;
    const text = (option.description ?? "").replaceAll("|", "\\|");
    const fallback =
      option.default === undefined || JSON.stringify(option.default) === "[]" || JSON.stringify(option.default) === "{}"
        ? ""
        : `\`${JSON.stringify(option.default)}\``;
    const row = `| \`${name}\` | ${typeOf(option)} | ${fallback} | ${text} |`;
    const inner = option.properties
      ? rows(option, `${name}.`)
      : option.additionalProperties?.properties
        ? rows(option.additionalProperties, `${name}.<name>.`)
        : [];
    return [row, ...inner];
  });
}

function section(title, schema, note = "") {
  return (
    `## ${title}\n\n${[schema.description, note].filter(Boolean).join(" ")}\n\n` +
    `| option | takes | default | meaning |\n|---|---|---|---|\n${rows(schema).join("\n")}\n`
  );
}

function configurationPage() {
  const { mcp, ...sections } = CONFIG_SCHEMA.properties;
  return `# Options of \`toolyard.toml\`

${NOTE}\`\`\`sh
toolyard config           # every option in force, and where it was set
toolyard config --schema  # the JSON Schema, for an editor
\`\`\`

Precedence: flag, then \`TOOLYARD_<SECTION>_<KEY>\`, then file, then default. Durations are milliseconds or text such as
\`"30s"\`; sizes are bytes or text such as \`"4MiB"\`. Secrets take a literal, \`\${VAR}\`, \`\${VAR:-default}\` or
\`{file = "path"}\`. Paths count from the file they stand in.

${Object.entries(sections)
  .map(([name, schema]) => section(`\`[${name}]\``, schema))
  .join("\n")}
${section(
  "`[mcp.stdio_servers.<alias>]`",
  mcp.properties.stdio_servers.additionalProperties,
  "MCP servers that are started here.",
)}
${section("`[[mcp.remote_servers]]`", mcp.properties.remote_servers.items, "MCP servers on HTTP.")}`;
}

function errorsPage() {
  const rows = Object.entries(KINDS);
  const answers = rows.map(
    ([kind, { when, mcp, jsonrpc, http, status, exit, retry }]) =>
      `| ${kind} | ${when} | ${mcpText(mcp)} | ${jsonrpc} | ${http} | ${status} | ${exit} | ${retry} |`,
  );
  const effects = rows.map(
    ([kind, { retryable, log, breaker, beforeExecution, unanswered }]) =>
      `| ${kind} | ${retryable} | ${log} | ${breaker} | ${yesOrNo(beforeExecution)} | ${yesOrNo(unanswered)} |`,
  );
  return `# Outcomes and errors

${NOTE}\`\`\`sh
toolyard call no_such_tool; echo $?   # unknown_tool: … , 3
\`\`\`

One table answers on every surface. An \`isError\` result that the hub itself made carries its kind in
\`_meta["toolyard/kind"]\`; the same member of an MCP server's own result is removed.

| kind | when | \`tools/call\` | JSON-RPC dialect | HTTP | binding status | exit code | retry |
|---|---|---|---|---|---|---|---|
| ok | | result | result | 200 | 200 | 0 | |
${answers.join("\n")}

\`retry\` tells when the hub sends a call again; with \`later\` the caller decides. A resource that is not there is
-32002 up to 2025-11-25 and -32602 since.

| kind | \`retryable\` | log level | circuit breaker | refused before a tool ran | no usable answer of the server |
|---|---|---|---|---|---|
${effects.join("\n")}

\`retryable\` is the default of the member of that name in an outcome; a single failure may have another value. In the
column of the circuit breaker, \`failure\` counts towards opening the circuit of the server, \`success\` closes it, and
\`none\` leaves it as it is.
`;
}

function yesOrNo(value) {
  return value ? "yes" : "no";
}

function mcpText(mcp) {
  if (mcp === "by-revision") return "-32602 up to 2025-06-18, `isError` since";
  if (mcp === "silence") return "no answer; 0 on Streamable HTTP up to 2025-11-25";
  return typeof mcp === "number" ? String(mcp) : "`isError`";
}

async function commandsPage() {
  const io = { stdout: { write() {} }, stderr: { write() {} } };
  const program = await createProgram(io, "0.0.0", { json: false, finish: () => {} });
  const pageOf = (command, path) => {
    let help = "";
    command.configureHelp({ helpWidth: 100 }).configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    return [
      `## ${path}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`,
      ...command.commands.flatMap((inner) => pageOf(inner, `${path} ${inner.name()}`)),
    ];
  };
  const pages = program.commands.flatMap((command) => pageOf(command, command.name()));
  return `# Commands

${NOTE}\`\`\`sh
toolyard --help
\`\`\`

Exit codes are those of [the table](errors.md): 0 ok, 1 the tool failed, 2 the command line or the arguments are wrong,
3 no such name, 4 not reachable, 5 timeout, 70 a fault of toolyard, 130 interrupted. With \`--json\`, results go to
standard output and errors to standard error, as JSON.

${pages.join("\n")}`;
}

/** Returns JSON in lines of 120 characters without indentation: the package is smaller, and editors format it. */
function jsonText(value, before = 0) {
  const onOneLine = JSON.stringify(value);
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || before + onOneLine.length < 120) return onOneLine;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const members = Array.isArray(value)
    ? value.map((member) => jsonText(member))
    : Object.entries(value).map(([name, member]) => {
        const label = `${JSON.stringify(name)}:`;
        return `${label}${jsonText(member, label.length)}`;
      });
  return `${open}\n${members.join(",\n")}\n${close}`;
}

const pages = {
  "configuration.md": configurationPage(),
  "errors.md": errorsPage(),
  "commands.md": await commandsPage(),
  "toolyard.schema.json": `${jsonText(publishedSchema(CONFIG_SCHEMA))}\n`,
};
const folder = join(root, "docs", "reference");
mkdirSync(folder, { recursive: true });
let stale = 0;
for (const [name, text] of Object.entries(pages)) {
  const path = join(folder, name);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, text);
    continue;
  }
  let written = "";
  try {
    written = readFileSync(path, "utf8");
  } catch {
    // A missing page counts as stale.
  }
  if (written !== text) {
    stale += 1;
    console.error(`docs/reference/${name} is stale; run \`npm run reference\`.`);
  }
}
process.exit(stale === 0 ? 0 : 1);
