import { describe, expect, test } from "vitest";
import { FailError } from "../core/errors.ts";
import { argumentReader, resolveCommand, type CommandProbe } from "./resolve-command.ts";

/** Simulates another machine with these files, each with its type. */
function machine(
  platform: NodeJS.Platform,
  files: Readonly<Record<string, "executable" | "not-executable" | "folder">>,
  texts: Readonly<Record<string, string>> = {},
): CommandProbe {
  const find = (path: string) => files[path] ?? (path in texts ? "executable" : "absent");
  return { platform, find, read: (path) => texts[path] };
}

const HEAD =
  "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n";
const CHOICE =
  '\r\nIF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n' +
  "  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\n";
const START = "endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & ";
/** Builds a batch file as npm writes it for the program of a package. */
const shim = (line: string, extra = "") => `${HEAD}${extra}${CHOICE}${START}"%_prog%" ${line} %*\r\n`;

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
  test("on Windows, completes a bare name with PATHEXT in its order, and finds no file without an extension", () => {
    expect(resolveCommand("node", ["a b"], { ...place, probe: windows })).toEqual({
      file: "C:\\tools\\node.exe",
      args: ["a b"],
      verbatim: false,
    });
    expect(resolveCommand("npx", [], { ...place, probe: windows }).args[3]).toBe('""C:\\tools\\npx.cmd""');
  });

  test("runs a batch file through cmd.exe with each argument in quotes", () => {
    const resolved = resolveCommand(".\\run", ["-y", "Jo & Co".replace("&", "and"), "C:\\my dir\\"], {
      ...place,
      probe: windows,
    });
    expect(resolved).toEqual({
      file: "C:\\Windows\\cmd.exe",
      args: ["/d", "/s", "/c", String.raw`""C:\work\run.bat" -y "Jo and Co" "C:\my dir\\""`],
      verbatim: true,
    });
  });

  test.each(['x" & calc & "', "a&calc", "%PATH%", "a\nb"])("rejects the argument %j of a batch file", (argument) => {
    expect(messageOf(() => resolveCommand(".\\run", [argument], { ...place, probe: windows }))).toContain(
      "could execute or replace",
    );
  });
});

describe("npm and its files on Windows", () => {
  const npm = "C:\\tools\\node_modules\\npm\\bin\\";
  const files = {
    "C:\\tools\\npx.cmd": "executable",
    "C:\\tools\\npm.cmd": "executable",
    "C:\\tools\\node.exe": "executable",
    [`${npm}npx-cli.js`]: "executable",
    [`${npm}npm-cli.js`]: "executable",
    "C:\\work\\node_modules\\srv\\cli.js": "executable",
    "C:\\work\\node_modules\\.bin\\..\\srv\\cli.js": "executable",
  } as const;
  const own = String.raw`C:\work\node_modules\.bin\srv.cmd`;
  const target = String.raw`"%dp0%\..\srv\cli.js"`;
  const at = (probe: CommandProbe, env: Readonly<Record<string, string>> = {}) => ({
    ...place,
    env: { ...place.env, ...env },
    probe,
  });

  test.each([
    ["npx", "npx-cli.js"],
    ["npx.cmd", "npx-cli.js"],
    ["C:\\tools\\npm.cmd", "npm-cli.js"],
    ["npm", "npm-cli.js"],
  ])("starts %s with Node, so that no batch file parses the arguments", (command, script) => {
    const text = 'x" & calc & "%PATH%';
    expect(resolveCommand(command, ["-y", text], at(machine("win32", files)))).toEqual({
      file: "C:\\tools\\node.exe",
      args: [npm + script, "-y", text],
      verbatim: false,
    });
    expect(argumentReader(command, at(machine("win32", files)))).toBe("npm");
  });

  test("prefers the user's npm, and rejects a line break, which would end the command of npm's cmd.exe", () => {
    const newer = "C:\\U\\npm\\node_modules\\npm\\bin\\npx-cli.js";
    const probe = machine("win32", { ...files, [newer]: "executable" });
    expect(resolveCommand("npx", [], at(probe, { appdata: "C:\\U" })).args).toEqual([newer]);
    expect(resolveCommand("npx", [], at(probe)).args).toEqual([`${npm}npx-cli.js`]);
    expect(messageOf(() => resolveCommand("npx", ["a\nb"], at(probe)))).toContain("contains a line break");
  });

  test.each([
    ["npm's file", shim(` ${target}`)],
    ["with options of Node", shim(`--no-warnings --max-old-space-size=512 ${target}`)],
    [
      "npm's older file",
      `@IF EXIST "%~dp0\\node.exe" (\r\n  "%~dp0\\node.exe"  "%~dp0\\..\\srv\\cli.js" %*\r\n) ELSE (\r\n` +
        '  @SETLOCAL\r\n  @SET PATHEXT=%PATHEXT:;.JS;=;%\r\n  node  "%~dp0\\..\\srv\\cli.js" %*\r\n)',
    ],
  ])("starts the program of a package with Node: %s", (_name, text) => {
    const probe = machine("win32", files, { [own]: text });
    const { file, args, verbatim } = resolveCommand("./node_modules/.bin/srv", ["a&b\n"], at(probe));
    expect([file, verbatim]).toEqual(["C:\\tools\\node.exe", false]);
    expect(args.slice(-2)).toEqual(["C:\\work\\node_modules\\srv\\cli.js", "a&b\n"]);
    expect(argumentReader(own, at(probe))).toBeUndefined();
  });

  test.each([
    ["a further command", shim(` ${target}`, "SET TOKEN=1\r\n")],
    ["another program", `${HEAD}"%dp0%\\srv.exe" %*`],
    ["a target that is absent", shim(String.raw` "%dp0%\..\gone\cli.js"`)],
    ["two targets", `${HEAD}${CHOICE}"%_prog%" ${target} %*\r\n"%_prog%" "%dp0%\\..\\b.js" %*`],
    ["arguments of its own", shim(` ${target} --verbose`)],
    ["a file that starts Node alone", String.raw`@node "%~dp0\..\srv\cli.js" %*`],
  ])("runs a file with %s through cmd.exe", (_name, text) => {
    const probe = machine("win32", files, { [own]: text });
    expect(resolveCommand(own, ["x"], at(probe)).verbatim).toBe(true);
    expect(messageOf(() => resolveCommand(own, ["a&b"], at(probe)))).toContain("contains `&`");
    expect(argumentReader(own, at(probe))).toBe("batch");
  });

  test("returns `batch` for cmd.exe on Windows, and no parser for other programs", () => {
    for (const command of ["cmd", "CMD.EXE", "C:\\Windows\\System32\\cmd.exe"])
      expect(argumentReader(command, at(windows))).toBe("batch");
    for (const command of ["node", "C:\\tools\\node.exe", "absent"])
      expect(argumentReader(command, at(windows))).toBeUndefined();
    expect(argumentReader("cmd", { ...place, probe: machine("linux", {}) })).toBeUndefined();
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

  test("finds the first executable along PATH, and resolves a path from the working folder", () => {
    expect(resolveCommand("x", ["1"], { ...at, probe: linux })).toEqual({ file: "/b/x", args: ["1"], verbatim: false });
    expect(resolveCommand("bin/y", [], { ...at, probe: linux }).file).toBe("/w/bin/y");
  });

  test.each([
    ["none", "none` was not found in the 2 folders of PATH. Install it"],
    ["./none", "`none` was not found at the path given"],
    ["./z", "`z` is a folder"],
    ["/a/x", "`x` was found but may not be run"],
    ["", "The command is empty"],
  ])("rejects %j with the attempted paths and advice", (command, message) => {
    expect(messageOf(() => resolveCommand(command, [], { ...at, probe: linux }))).toContain(message);
  });
});
