// An MCP server on stdio with resources and prompts: a counter that reports its changes, Markdown, JSON, and texts that
// attack a web page.
import { createInterface } from "node:readline";

const SCRIPT = "window.__attacked=1";
const ATTACKS = [
  `<script>${SCRIPT}</script>`,
  `<img src=x onerror="${SCRIPT}">`,
  `[x](javascript:${SCRIPT})`,
  `![x](https://evil.example/x.png)`,
  `<svg onload="${SCRIPT}"></svg>`,
  `<style>*{display:none}</style>`,
  `<iframe src="https://evil.example"></iframe>`,
  `<form action="https://evil.example"><input name=q></form>`,
  `<a href="data:text/html,<script>${SCRIPT}</script>" style="position:fixed">y</a>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${SCRIPT}>`,
];
const MARKDOWN = `# Report\n\n**bold** and [a link](https://example.org)\n\n${ATTACKS.join("\n\n")}\n`;
let count = 0;
let isSubscribed = false;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const contents = {
  "demo://counter": () => ({ mimeType: "text/plain", text: `count is ${count}` }),
  "demo://report": () => ({ mimeType: "text/markdown", text: MARKDOWN }),
  "demo://page": () => ({ mimeType: "text/html", text: ATTACKS.join("\n") }),
  "demo://rows": () => ({
    mimeType: "application/json",
    text: JSON.stringify([{ city: "Graz" }, { city: ATTACKS[0] }]),
  }),
  "demo://large": () => ({ mimeType: "text/plain", text: "z".repeat(1_000_000) }),
};
const many = Array.from({ length: Number(process.argv[2] ?? 0) }, (_, at) => ({
  uri: `demo://n/${at}`,
  name: `n${at}`,
}));

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    serverInfo: { name: "content", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "bump", inputSchema: { type: "object" } }] }),
  "tools/call": () => {
    count += 1;
    if (isSubscribed) send({ method: "notifications/resources/updated", params: { uri: "demo://counter" } });
    return { content: [{ type: "text", text: String(count) }] };
  },
  "resources/list": () => ({
    resources: [
      ...Object.keys(contents).map((uri) => ({ uri, name: uri.slice(7), title: `${uri.slice(7)} ${ATTACKS[1]}` })),
      ...many,
    ],
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "demo://city/{name}{?lang}", name: "city", description: ATTACKS[0] }],
  }),
  "resources/read": ({ uri }) => ({
    contents: [{ uri, ...(contents[uri]?.() ?? { mimeType: "text/plain", text: `read ${uri}` }) }],
  }),
  "resources/subscribe": () => ((isSubscribed = true), {}),
  "resources/unsubscribe": () => ((isSubscribed = false), {}),
  "prompts/list": () => ({
    prompts: [
      {
        name: "greet",
        title: `Greet ${ATTACKS[0]}`,
        description: ATTACKS.join("\n"),
        arguments: [{ name: "city", description: ATTACKS[1], required: true }],
      },
    ],
  }),
  "prompts/get": ({ arguments: { city } }) => ({
    messages: [
      { role: "user", content: { type: "text", text: `Greet ${city} ${ATTACKS[0]}` } },
      { role: "assistant", content: { type: "text", text: ATTACKS.join("\n") } },
    ],
  }),
  "completion/complete": ({ argument: { value } }) => ({
    completion: { values: ["Graz", "Genf", "Bern"].filter((one) => one.startsWith(value)) },
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const isUnknown = method === "prompts/get" && params.arguments?.city === "nowhere";
  const error = { code: -32602, message: "There is no such city." };
  if (isUnknown) return send({ id, error });
  const result = results[method]?.(params);
  send({ id, ...(result ? { result } : { error: { code: -32601, message: "no such method" } }) });
});
