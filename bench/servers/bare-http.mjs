// The baseline: a minimal handler that parses JSON and echoes it as a call's result. Prints its port.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id,
      result: { content: [{ type: "text", text: params.arguments.text }] },
    });
    response
      .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      .end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.once("disconnect", () => process.exit());
