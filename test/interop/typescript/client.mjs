// The partner client on the TypeScript SDK v2: `client.mjs TARGET`, the target as JSON (see scenario.mjs).
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { capabilities, run } from "./scenario.mjs";

const textOf = (blocks) => blocks.map(({ text }) => text).join(" ");

async function connect(target, person) {
  const options = {
    capabilities: { elicitation: {}, sampling: {} },
    versionNegotiation: { mode: target.era === "legacy" ? "legacy" : "auto" },
  };
  const client = new Client({ name: "typescript", version: "1" }, options);
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: "accept",
    content: { answer: await person.answer(params.message) },
  }));
  client.setRequestHandler("sampling/createMessage", ({ params }) => {
    const { content } = params.messages[0];
    return {
      role: "assistant",
      model: "none",
      content: { type: "text", text: person.model((Array.isArray(content) ? content[0] : content).text) },
    };
  });
  client.setNotificationHandler("notifications/tools/list_changed", () => person.changed.set());
  await client.connect(transportOf(target));
  const version = client.getNegotiatedProtocolVersion();
  if (version === "2026-07-28")
    await client
      .listen({ toolsListChanged: true })
      .catch((error) => process.stderr.write(`listen: ${error.message}\n`));
  return partnerOf(client, version);
}

function transportOf({ url, command }) {
  if (url) return new StreamableHTTPClientTransport(new URL(url));
  return new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: "inherit" });
}

function partnerOf(client, version) {
  return {
    opened: () => ({
      version,
      server: client.getServerVersion()?.name ?? null,
      instructions: client.getInstructions() ?? null,
      capabilities: capabilities(client.getServerCapabilities()),
    }),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, onProgress, signal) => {
      const heard = onProgress && (({ progress }) => onProgress(progress));
      const result = await client.callTool(
        { name, arguments: args },
        { ...(heard && { onprogress: heard }), ...(signal && { signal }) },
      );
      return `${result.isError ? "tool error: " : ""}${textOf(result.content)}`;
    },
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0].content.text,
  };
}

await run(connect);
process.exit(0);
