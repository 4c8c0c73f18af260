import { describe, expect, test } from "vitest";
import { FailError } from "../core/errors.ts";
import { resolveCommand, type CommandProbe } from "./resolve-command.ts";

/** Another machine: its files, and what they are. */
function machine(
  platform: NodeJS.Platform,
  files: Readonly<Record<string, "executable" | "not-executable" | "folder">>,
): CommandProbe {
  return { platform, find: (path) => files[path] ?? "absent" };
}

const windows = machine("win32", {
  "C:\\tools\\npx.cmd": "executable",
  "C:\\tools\\npx": "executable",
  "C:\\tools\\node.exe": "executable",
  "C:\\work\\run.bat": "executable",
  "C:\\work\\node_modules\\.bin\\srv.cmd": "executable",
});
const place = {
  cwd: "C:\\work",
  env: { Path: '"C:\\tools";C:\\other', PATHEXT: ".EXE;.CMD;.BAT", ComSpec: "C:\\Windows\\cmd.exe" },
};

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof FailError) return error.failure.message;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("on Windows", () => {
  test("PATHEXT completes a bare name, in its order, and never takes a file without ending", () => {
    expect(resolveCommand("node", ["a b"], { ...place, probe: windows })).toEqual({
      file: "C:\\tools\\node.exe",
      args: ["a b"],
      verbatim: false,
    });
    expect(resolveCommand("npx", [], { ...place, probe: windows }).args[3]).toBe('"C:\\tools\\npx.cmd"');
  });

  test("a batch file runs through cmd.exe, its arguments quoted against both readers", () => {
    const resolved = resolveCommand("npx", ["-y", 'say "hi" & del *', "100%", "C:\\dir\\"], {
      ...place,
      probe: windows,
    });
    expect(resolved).toEqual({
      file: "C:\\Windows\\cmd.exe",
      args: [
        "/d",
        "/s",
        "/c",
        String.raw`"C:\tools\npx.cmd ^"-y^" ^"say^ \^"hi\^"^ ^&^ del^ ^*^" ^"100^%^" ^"C:\dir\\^""`,
      ],
      verbatim: true,
    });
  });

  test("npm's shims are escaped twice, since they call cmd.exe again", () => {
    expect(resolveCommand("./node_modules/.bin/srv", ["a&b"], { ...place, probe: windows }).args[3]).toBe(
      String.raw`"C:\work\node_modules\.bin\srv.cmd ^^^"a^^^&b^^^""`,
    );
  });

  test("a path starts at the working folder, and a line break in an argument of a batch file is refused", () => {
    expect(resolveCommand(".\\run", ["x"], { ...place, probe: windows }).args[3]).toBe('"C:\\work\\run.bat ^"x^""');
    expect(messageOf(() => resolveCommand(".\\run", ["a\nb"], { ...place, probe: windows }))).toContain("line break");
  });
});

describe("on other systems", () => {
  const linux = machine("linux", {
    "/b/x": "executable",
    "/a/x": "not-executable",
    "/w/bin/y": "executable",
    "/w/z": "folder",
  });
  const at = { cwd: "/w", env: { PATH: "/a:/b" } };

  test("the first executable along PATH wins, and a path starts at the working folder", () => {
    expect(resolveCommand("x", ["1"], { ...at, probe: linux })).toEqual({ file: "/b/x", args: ["1"], verbatim: false });
    expect(resolveCommand("bin/y", [], { ...at, probe: linux }).file).toBe("/w/bin/y");
  });

  test.each([
    ["none", "none` was not found in the 2 folders of PATH. Install it"],
    ["./none", "`none` was not found at the path given"],
    ["./z", "`z` is a folder"],
    ["/a/x", "`x` was found but may not be run"],
    ["", "The command is empty"],
  ])("%j is refused with the attempted paths and advice", (command, message) => {
    expect(messageOf(() => resolveCommand(command, [], { ...at, probe: linux }))).toContain(message);
  });
});
