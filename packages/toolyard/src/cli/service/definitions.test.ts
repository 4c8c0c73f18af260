import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineService, type ServicePlace, type ServiceProgram } from "./definitions.ts";

const PROGRAM: ServiceProgram = {
  command: process.execPath,
  args: ["/opt/a b/main.js", "serve", "--config", '/home/ada/100% "mine" & <yours>/$x\\toolyard.toml'],
  folder: "/home",
  env: { PATH: "/usr/bin:/bin", TOOLYARD_HOME: "/srv/50%/a b" },
};
const LINUX: ServicePlace = { platform: "linux", home: "/home/ada", uid: 1000 };
const MAC: ServicePlace = { platform: "darwin", home: "/Users/ada", uid: 501 };
const WINDOWS: ServicePlace = { platform: "win32", home: "C:\\Users\\ada", uid: 0, localAppData: "C:\\Local" };

/** Checks a definition with a tool. Returns undefined if the tool is missing. */
function checked(name: string, text: string, command: readonly [string, ...string[]]): string | undefined {
  const [program, ...args] = command;
  if (spawnSync(program, ["--version"]).error) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "toolyard-service-"));
  try {
    writeFileSync(join(folder, name), text);
    const options = { encoding: "utf8" as const, env: { ...process.env, XDG_RUNTIME_DIR: folder } };
    const { status, stdout, stderr } = spawnSync(program, [...args, join(folder, name)], options);
    return status === 0 ? `${stdout}${stderr}` : `exit code ${status}: ${stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("defines a systemd user unit with escaped words", () => {
  const { path, text, install, uninstall, status } = defineService(PROGRAM, LINUX);
  expect(path).toBe("/home/ada/.config/systemd/user/toolyard.service");
  expect(defineService(PROGRAM, { ...LINUX, configHome: "/c" }).path).toBe("/c/systemd/user/toolyard.service");
  expect(text).toContain(String.raw`"--config" "/home/ada/100%% \"mine\" & <yours>/$$x\\toolyard.toml"`);
  expect(text).toContain('Environment="TOOLYARD_HOME=/srv/50%%/a b"');
  expect(text).toMatch(/^WantedBy=default\.target$/m);
  expect(install.map((command) => command.join(" "))).toEqual([
    "systemctl --user daemon-reload",
    "systemctl --user enable --now toolyard.service",
    "systemctl --user restart toolyard.service",
  ]);
  expect([uninstall[0]!.at(-1), status[2]]).toEqual(["toolyard.service", "is-active"]);
});

const SYSTEMD = "systemd-analyze is not on this machine";

test("writes a systemd unit that systemd accepts", ({ skip }) => {
  const { text } = defineService({ ...PROGRAM, args: ["/opt/a b/main.js", "serve"] }, LINUX);
  const said = checked("toolyard.service", text, ["systemd-analyze", "verify", "--user"]);
  if (said === undefined) return skip(SYSTEMD);
  expect(said).toBe("");
});

const PYTHON_READS: Readonly<Record<string, string>> = {
  plist: "import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))",
  xml:
    "import json,sys,xml.etree.ElementTree as t; r=t.parse(sys.argv[1]).getroot(); " +
    "print(json.dumps({e.tag.split('}')[1]: e.text for e in r.iter()}))",
};

test("writes a launchd agent that a property list parser reads", () => {
  const { path, text, install, uninstall } = defineService(PROGRAM, MAC);
  expect(path).toBe("/Users/ada/Library/LaunchAgents/io.toolyard.hub.plist");
  const read = checked("agent.plist", text, ["python3", "-c", PYTHON_READS["plist"]!]);
  expect(JSON.parse(read!)).toMatchObject({
    Label: "io.toolyard.hub",
    ProgramArguments: [PROGRAM.command, ...PROGRAM.args],
    EnvironmentVariables: PROGRAM.env,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    StandardErrorPath: "/Users/ada/Library/Logs/toolyard.log",
  });
  expect(install).toEqual([["launchctl", "bootstrap", "gui/501", path]]);
  expect(uninstall).toEqual([["launchctl", "bootout", "gui/501/io.toolyard.hub"]]);
});

test("writes a Windows task that an XML parser reads", () => {
  const program = { ...PROGRAM, command: "C:\\Program Files\\nodejs\\node.exe", args: ["C:\\a b\\", 'x & "y"', "z"] };
  const { path, text, install, uninstall } = defineService(program, WINDOWS);
  expect(path).toBe("C:\\Local\\toolyard\\service.xml");
  const read = checked("task.xml", text, ["python3", "-c", PYTHON_READS["xml"]!]);
  expect(JSON.parse(read!)).toMatchObject({
    Command: "C:\\Program Files\\nodejs\\node.exe",
    Arguments: String.raw`"C:\a b\\" "x & \"y\"" z`,
    LogonType: "InteractiveToken",
    ExecutionTimeLimit: "PT0S",
  });
  expect(install[0]).toEqual(["schtasks", "/Create", "/TN", "Toolyard", "/XML", path, "/F"]);
  expect(uninstall.at(-1)).toEqual(["schtasks", "/Delete", "/TN", "Toolyard", "/F"]);
});

test("rejects a system without a known service manager", () => {
  expect(() => defineService(PROGRAM, { ...LINUX, platform: "freebsd" })).toThrow("not freebsd");
});
