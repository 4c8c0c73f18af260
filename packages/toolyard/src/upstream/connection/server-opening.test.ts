import { expect, test } from "vitest";
import { readOpening } from "./server-opening.ts";

const LARGE = "x".repeat(300 * 1024);

test.each([
  ["name", { name: LARGE, version: "1" }, { name: LARGE.slice(0, 256), version: "1" }],
  ["title", { name: "s", title: LARGE, version: "1" }, { name: "s", title: LARGE.slice(0, 256), version: "1" }],
  ["description", { name: "s", version: "1", description: LARGE }, { name: "s", version: "1" }],
  [
    "icon",
    { name: "s", version: "1", icons: [{ src: `data:image/png;base64,${LARGE}` }] },
    { name: "s", version: "1" },
  ],
  ["member outside the protocol", { name: "s", version: "1", "x-more": [LARGE] }, { name: "s", version: "1" }],
  ["number of members", Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`m${at}`, at])), {}],
])("keeps only short texts of a server info if its %s is too large", (_title, info, kept) => {
  const { serverInfo, faults } = readOpening({ capabilities: {} }, info);
  expect(serverInfo).toEqual(kept);
  expect(faults).toEqual([
    { subject: "serverInfo", message: expect.stringContaining("The server info is over 262.1 kB;") },
  ]);
});

test("keeps a server info below the limit unchanged", () => {
  const info = { name: "s", version: "1", description: "x".repeat(200 * 1024), "x-more": { a: 1 } };
  expect(readOpening({ capabilities: {} }, info)).toMatchObject({ serverInfo: info, faults: [] });
});
