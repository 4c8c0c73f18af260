import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Hub } from "../hub/hub.ts";
import { mendBroken } from "./installs.ts";
import type { Io } from "./io.ts";

const FOLDER = "/home/ada/.npm/_npx/0123456789abcdef";

/** What is asked, said and removed when one source is broken and somebody at a terminal answers so. */
async function mended(answer: boolean | undefined, options: { yes?: boolean; json?: boolean } = {}, wasMended = false) {
  const [asked, removed, stderr] = [[] as unknown[], [] as string[], new PassThrough()];
  const broken = { package: "npx torn-server", folders: [FOLDER], mended: wasMended };
  const hub = {
    sources: () => [
      { source: { id: "well" }, status: {} },
      { source: { id: "torn" }, status: { broken } },
    ],
    mend: async (id: string) => void removed.push(id),
  } as unknown as Hub;
  const ask = (question: string, otherwise?: boolean): Promise<boolean> => {
    asked.push([question, otherwise]);
    return Promise.resolve(answer === true);
  };
  const interrupted = new AbortController().signal;
  const io = { stderr, interrupted, ...(answer === undefined ? {} : { ask }) } as unknown as Io;
  const result = await mendBroken(hub, options, io);
  return { result, asked, removed, said: String(stderr.read() ?? "") };
}

test("somebody at a terminal is shown the folder and asked; only a yes removes it, and enter means no", async () => {
  expect(await mended(true)).toEqual({
    result: true,
    asked: [["Remove that and download it anew? [y/N] ", false]],
    removed: ["torn"],
    said: expect.stringContaining(FOLDER),
  });
  expect(await mended(false)).toMatchObject({ result: false, removed: [], asked: { length: 1 } });
});

test("--yes is the answer; where nobody can be asked, and a second time, nothing is removed", async () => {
  expect(await mended(undefined, { yes: true })).toMatchObject({ result: true, removed: ["torn"] });
  expect(await mended(undefined)).toMatchObject({ result: false, removed: [] });
  expect(await mended(true, { json: true })).toMatchObject({ result: false, removed: [], asked: [] });
  expect(await mended(true, { yes: true }, true)).toMatchObject({ result: false, removed: [] });
});
