/* oxlint-disable no-control-regex -- What a terminal obeys is what is looked for. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { imageProtocol, imageText } from "./shown-image.ts";

const stdout = Object.assign(new PassThrough(), { isTTY: true });
const png = { bytes: Buffer.alloc(5000, 1), mimeType: "image/png" };

test.each([
  [{ TERM: "xterm-kitty" }, "kitty"],
  [{ KITTY_WINDOW_ID: "1", TERM: "xterm-256color" }, "kitty"],
  [{ TERM_PROGRAM: "iTerm.app", TERM: "xterm-256color" }, "iterm2"],
  [{ TERM: "xterm-256color" }, undefined],
  [{ TERM: "xterm-kitty", TMUX: "/tmp/tmux" }, undefined],
  [{ TERM: "dumb", KITTY_WINDOW_ID: "1" }, undefined],
])("on a terminal with the variables %j, shows images with the protocol %s", (env, protocol) => {
  expect(imageProtocol({ env, stdout })).toBe(protocol);
  expect(imageProtocol({ env, stdout: new PassThrough() })).toBeUndefined();
});

test("sends an image to kitty in chunks of base64, to iTerm2 in one; omits other media", () => {
  const kitty = imageText(png, "kitty")!;
  expect(kitty).toMatch(/^\u001b_Ga=T,f=100,m=1;[A-Za-z0-9+/]{4096}\u001b\\\u001b_Gm=0;[A-Za-z0-9+/=]+\u001b\\\n$/);
  expect(imageText(png, "iterm2")).toMatch(/^\u001b\]1337;File=inline=1;size=5000:[A-Za-z0-9+/=]+\u0007\n$/);
  expect(imageText({ ...png, mimeType: "audio/wav" }, "iterm2")).toBeUndefined();
  expect(imageText({ ...png, mimeType: "image/svg+xml" }, "kitty")).toBeUndefined();
  expect(imageText({ ...png, bytes: Buffer.alloc(0) }, "kitty")).toBeUndefined();
});
