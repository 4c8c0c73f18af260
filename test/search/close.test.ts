import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** More tools than can be compared within the time of the test. */
const TOOLS = 4000;

const PROGRAM = `
import { createHub } from "toolyard";
const hub = await createHub({
  settings: {},
  registerTools: (own) => {
    for (let at = 0; at < ${TOOLS}; at += 1)
      own.registerTool("tool_" + at, () => at, { type: "object" }, "Reads note " + at);
  },
});
const { hits } = await hub.search("reads a note", 3);
await hub.close();
console.log("closed", hits.length);
`;

test("a program continues after it closes its hub while tools are prepared for search", async () => {
  const program = ["--input-type=module", "--eval", PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: new URL("../..", import.meta.url) });
  expect(stdout).toBe("closed 3\n");
});
