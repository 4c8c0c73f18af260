// A program that serves its own tool on stdio, written like one of a user.
import { get_mcp_instance, start_stdio_server } from "toolyard/core";

// Only the protocol may write to standard output from here on.
const serving = start_stdio_server({ paths: [process.argv[2]] });
const mcp = await get_mcp_instance();
mcp.register_tool("own.tool", () => {
  console.log("printed by a tool");
  return "own";
});
await serving;
console.error("over");
