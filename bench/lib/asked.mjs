// A legacy client that receives a server request and keeps it open as long as the test needs.
import { INITIALIZE, INITIALIZED, chosenVersion } from "./wire.mjs";

const ALWAYS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export async function openAsked(url) {
  const post = (message, headers = {}) =>
    fetch(url, {
      method: "POST",
      headers: { ...ALWAYS, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const opened = await post({
    id: 0,
    ...INITIALIZE,
    params: { ...INITIALIZE.params, capabilities: { elicitation: {} } },
  });
  const session = {
    "mcp-session-id": opened.headers.get("mcp-session-id"),
    "mcp-protocol-version": chosenVersion(await opened.text()),
  };
  await (await post(INITIALIZED, session)).text();
  let lastId = 0;
  return {
    /**
     * Calls a tool that sends a server request. Resolves when the request has arrived; the returned function answers
     * it, and resolves with the end of the call.
     */
    async ask(tool) {
      const id = (lastId += 1);
      const response = await post({ id, method: "tools/call", params: { name: tool, arguments: {} } }, session);
      const messages = messagesOf(response.body);
      const question = await next(messages, ({ method }) => method === "elicitation/create");
      return async () => {
        await (await post({ id: question.id, result: { action: "accept", content: {} } }, session)).text();
        const reply = await next(messages, (message) => message.id === id && message.method === undefined);
        if (reply.result === undefined || reply.result.isError)
          throw new Error(`The call that asked failed: ${JSON.stringify(reply)}`);
      };
    },
  };
}

/** Returns the next message that matches; the stream continues after it. */
async function next(messages, isWanted) {
  for (;;) {
    const { value, done } = await messages.next();
    if (done) throw new Error("The stream ended before the message came.");
    if (isWanted(value)) return value;
  }
}

async function* messagesOf(body) {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: {"));
      if (data !== undefined) yield JSON.parse(data.slice(6));
    }
  }
}
