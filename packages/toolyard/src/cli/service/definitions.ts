import { posix, win32 } from "node:path";
import { OptionError } from "../../core/errors.ts";

/** Program that the service starts. All paths are absolute. */
export interface ServiceProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Location of a service definition, and the commands of the system's service manager. */
export interface ServiceDefinition {
  readonly manager: "systemd" | "launchd" | "Task Scheduler";
  readonly path: string;
  readonly text: string;
  /** Commands to run after the file is written. */
  readonly install: readonly (readonly string[])[];
  /** Commands to run before the file is removed. */
  readonly uninstall: readonly (readonly string[])[];
  readonly status: readonly string[];
}

/** The user who runs the service. */
export interface ServicePlace {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Numeric user id on macOS. */
  readonly uid: number;
  /** `%LOCALAPPDATA%` on Windows. */
  readonly localAppData?: string;
  /** `$XDG_CONFIG_HOME` on Linux. */
  readonly configHome?: string;
}

export const LABEL = "io.toolyard.hub";
const UNIT = "toolyard.service";
const TASK = "Toolyard";

/** Defines the service for the system's manager: a systemd user unit, a launchd agent, or a task at log-on. */
export function defineService(program: ServiceProgram, place: ServicePlace): ServiceDefinition {
  if (place.platform === "linux") return systemdService(program, place);
  if (place.platform === "darwin") return launchdService(program, place);
  if (place.platform === "win32") return taskService(program, place);
  throw new OptionError(
    `\`toolyard service\` knows systemd, launchd and the Task Scheduler, not ${place.platform}. ` +
      "Start `toolyard serve` with the service manager of this system.",
  );
}

function systemdService(program: ServiceProgram, { home, configHome }: ServicePlace): ServiceDefinition {
  const ctl = (...words: readonly string[]): readonly string[] => ["systemctl", "--user", ...words];
  return {
    manager: "systemd",
    path: posix.join(configHome ?? posix.join(home, ".config"), "systemd", "user", UNIT),
    text: systemdUnit(program),
    install: [ctl("daemon-reload"), ctl("enable", "--now", UNIT), ctl("restart", UNIT)],
    uninstall: [ctl("disable", "--now", UNIT)],
    status: ctl("is-active", UNIT),
  };
}

function systemdUnit({ command, args, folder, env }: ServiceProgram): string {
  return [
    "[Unit]",
    "Description=Toolyard: all tools behind one MCP endpoint",
    "After=network-online.target",
    "",
    "[Service]",
    `ExecStart=${[command, ...args].map((word) => systemdWord(word).replaceAll("$", "$$$$")).join(" ")}`,
    `WorkingDirectory=${folder.replaceAll("%", "%%")}`,
    ...Object.entries(env).map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`),
    "Restart=on-failure",
    "RestartSec=5",
    // Time in seconds that running calls get to end.
    "TimeoutStopSec=30",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** systemd replaces `%` everywhere and `$` in commands, and reads a backslash inside quotes as an escape. */
function systemdWord(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%");
  return `"${escaped.replaceAll("\n", String.raw`\n`)}"`;
}

function launchdService(program: ServiceProgram, { home, uid }: ServicePlace): ServiceDefinition {
  const path = posix.join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
  const log = posix.join(home, "Library", "Logs", "toolyard.log");
  return {
    manager: "launchd",
    path,
    text: launchdPlist(program, log),
    install: [["launchctl", "bootstrap", `gui/${uid}`, path]],
    uninstall: [["launchctl", "bootout", `gui/${uid}/${LABEL}`]],
    status: ["launchctl", "print", `gui/${uid}/${LABEL}`],
  };
}

function launchdPlist({ command, args, folder, env }: ServiceProgram, log: string): string {
  const text = (value: string): string => `<string>${xmlText(value)}</string>`;
  const pairs = Object.entries(env).map(([name, value]) => `    <key>${xmlText(name)}</key>${text(value)}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key>${text(LABEL)}`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...[command, ...args].map((word) => `    ${text(word)}`),
    "  </array>",
    `  <key>WorkingDirectory</key>${text(folder)}`,
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...pairs,
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
    `  <key>StandardOutPath</key>${text(log)}`,
    `  <key>StandardErrorPath</key>${text(log)}`,
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

function taskService(program: ServiceProgram, { home, localAppData }: ServicePlace): ServiceDefinition {
  const path = win32.join(localAppData ?? win32.join(home, "AppData", "Local"), "toolyard", "service.xml");
  return {
    manager: "Task Scheduler",
    path,
    text: taskXml(program),
    install: [
      ["schtasks", "/Create", "/TN", TASK, "/XML", path, "/F"],
      ["schtasks", "/Run", "/TN", TASK],
    ],
    uninstall: [
      ["schtasks", "/End", "/TN", TASK],
      ["schtasks", "/Delete", "/TN", TASK, "/F"],
    ],
    status: ["schtasks", "/Query", "/TN", TASK],
  };
}

/**
 * Returns the XML of a task. A task has no environment of its own: it inherits the user's. The order of the elements is
 * that of the schema.
 */
function taskXml({ command, args, folder }: ServiceProgram): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    "  <RegistrationInfo><Description>Toolyard: all tools behind one MCP endpoint</Description></RegistrationInfo>",
    "  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>",
    '  <Principals><Principal id="Author"><LogonType>InteractiveToken</LogonType></Principal></Principals>',
    "  <Settings>",
    "    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
    "    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>",
    "    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>",
    "    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>",
    "    <RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>",
    "  </Settings>",
    '  <Actions Context="Author">',
    "    <Exec>",
    `      <Command>${xmlText(command)}</Command>`,
    `      <Arguments>${xmlText(args.map(windowsWord).join(" "))}</Arguments>`,
    `      <WorkingDirectory>${xmlText(folder)}</WorkingDirectory>`,
    "    </Exec>",
    "  </Actions>",
    "</Task>",
    "",
  ].join("\n");
}

function windowsWord(word: string): string {
  if (/^[\w@+:./\\-]+$/.test(word)) return word;
  return `"${word.replace(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}

function xmlText(text: string): string {
  const clean = text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "");
  return clean.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
