// A program that serves its own tool on stdio, as a user would write it.
import { get_mcp_instance, start_stdio_server } from "toolyard/core";

// From here on, standard output belongs to the protocol.
const serving = start_stdio_server({ paths: [process.argv[2]] });
const mcp = await get_mcp_instance();
mcp.register_tool("own.tool", () => {
  console.log("printed by a tool");
  return "own";
});
await serving;
console.error("over");
