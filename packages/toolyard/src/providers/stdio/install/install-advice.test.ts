import { expect, test } from "vitest";
import { installFailure } from "./install-advice.ts";

const NPM = `npm error code E404
npm error 404 Not Found - GET http://localhost/none
npm error 404
npm error 404 The requested resource 'none@*' could not be found
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/0.log`;

test("reports each fact of npm's answer to an unknown name once and without its prefix", () => {
  const result = { ok: false, at: 0, lines: NPM.split("\n") };
  const words = { command: "npx", args: ["none"] };
  const { message } = installFailure(result, words, { what: "npx none", maxMs: 1000 });
  expect(message).toBe(
    "`npx none` could not be downloaded. It said: E404 Not Found - GET http://localhost/none " +
      "The requested resource 'none@*' could not be found. " +
      "There is no such package, or it is private: correct its name in the configuration.",
  );
});
