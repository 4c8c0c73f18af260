// Bubblewrap's command line: the part of the machine that a contained program sees. It has its own view of processes,
// files, network, users and names; unbound paths do not exist inside.
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { prlimitArguments, type MemoryMeasure, type ResourceLimits } from "../../process/resource-limits.ts";
import { openSeccompFilter, seccompFilter } from "./seccomp.ts";

/** How bubblewrap is used on this machine. */
export interface BwrapFound {
  /** Full path of bubblewrap. */
  readonly file: string;
  /**
   * How the program becomes `nobody`. `namespace`: the hub is not root, and that user has this name inside a user
   * namespace. If the hub is root, rights are dropped permanently: `inside`, after binding, so that paths that only
   * root may enter can be bound; or `outside`, before, if root may not create namespaces.
   */
  readonly identity: "namespace" | "inside" | "outside";
  /** Full path; empty if the hub is not root. */
  readonly setpriv: string;
  /** Full path; without it, resource limits are not enforced. */
  readonly prlimit: string | undefined;
}

export interface BwrapOptions {
  /** Full path of the program, as seen inside. */
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder, as seen inside: a bound folder, or `/tmp`. */
  readonly cwd: string;
  /** Files and folders of this machine that may be read, at the same path. Missing ones are skipped. */
  readonly readable: readonly string[];
  /** Files and folders that may be written too. */
  readonly writable: readonly string[];
  /** Folders of this machine that may be read under another path. */
  readonly readableAs?: readonly (readonly [path: string, inside: string])[];
  /** Empty folders in memory, with their limit in bytes. */
  readonly scratch?: readonly (readonly [inside: string, bytes: number])[];
  /** True if it may start processes. @default true */
  readonly processes?: boolean;
  /** The machine's own network, or none at all, without the loopback of this machine. */
  readonly network: boolean;
  /** Limit of `/tmp` and all other temporary files inside. @default 64 MiB */
  readonly tmpBytes?: number;
  readonly limits: ResourceLimits;
  readonly measure: MemoryMeasure;
  /** Pipes of the child besides the three standard ones; the filter's descriptor follows them. */
  readonly extraPipes: number;
}

/** The arguments of `spawnChild`: `files` is passed there too. */
export interface BwrapCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly files: readonly (() => number)[];
}

const DEFAULT_TMP_BYTES = 64 * 1024 * 1024;

/**
 * Returns the command line that runs a program behind bubblewrap: with only `/usr`, bound paths, an empty `/tmp`, its
 * own `/proc` and a few devices; user `nobody` without capabilities; filtered system calls; limits. When it or the hub
 * ends, the kernel ends all its children. The environment is that of the spawned child: pass `insideEnvironment(env)`.
 */
export function bwrapCommand(found: BwrapFound, options: BwrapOptions): BwrapCommand {
  const filter = seccompPart(options);
  const { tmpBytes = DEFAULT_TMP_BYTES } = options;
  const args = [
    ...(found.identity === "inside" ? DROPPED_OPTIONS : USERNS_OPTIONS),
    ...COMMON_OPTIONS,
    ...(options.network ? [] : ["--unshare-net"]),
    ...systemFolders(),
    ...(options.network ? networkFiles() : []),
    ...[["/tmp", tmpBytes] as const, ["/dev/shm", tmpBytes] as const, ...(options.scratch ?? [])].flatMap(
      ([path, bytes]) => ["--perms", "1777", "--size", String(bytes), "--tmpfs", path],
    ),
    ...bindings(options),
    // Without it, the mount points of bindings and devices could be written to, beyond the limit of /tmp.
    ...["/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    "--chdir",
    options.cwd,
    ...filter.args,
    "--",
    ...(found.identity === "inside" ? [found.setpriv, ...SETPRIV_OPTIONS] : []),
    ...(found.prlimit === undefined ? [] : [found.prlimit, ...prlimitArguments(options.limits, options.measure)]),
    options.command,
    ...options.args,
  ];
  if (found.identity !== "outside") return { command: found.file, args, files: filter.files };
  return { command: found.setpriv, args: [...SETPRIV_OPTIONS, found.file, ...args], files: filter.files };
}

/** Returns an environment for inside: without the home folder, and with `/tmp` for temporary files. */
export function insideEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...env, HOME: "/tmp", TMPDIR: "/tmp" };
}

/**
 * Returns the folders that a program outside `/usr` needs: `bin`, `lib` and other siblings if it is in a `bin`,
 * otherwise only the file. Never the folder above, which may be a home folder.
 */
export function programFolders(file: string): string[] {
  const places = new Set([file, realPathOr(file)]);
  return Array.from(places).flatMap((path) => {
    if (path.startsWith("/usr/") || !existsSync(path)) return [];
    if (basename(dirname(path)) !== "bin") return [path];
    return BESIDE_BIN.map((name) => join(dirname(dirname(path)), name)).filter((folder) => existsSync(folder));
  });
}

const BESIDE_BIN = ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg"];

const COMMON_OPTIONS = [
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--die-with-parent",
  "--new-session",
  "--hostname",
  "sandbox",
];
// Root keeps its right to bind paths that only root may enter, and the program itself becomes `nobody`, to whom the
// limit of processes applies.
const DROPPED_OPTIONS = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
const SETPRIV_OPTIONS = [
  "--reuid=65534",
  "--regid=65534",
  "--clear-groups",
  "--inh-caps=-all",
  "--ambient-caps=-all",
  "--",
];
const USERNS_OPTIONS = ["--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"];

function seccompPart({ network, processes = true, extraPipes }: BwrapOptions): Pick<BwrapCommand, "args" | "files"> {
  const filter = { sockets: network, processes };
  if (seccompFilter(filter) === undefined) return { args: [], files: [] };
  return { args: ["--seccomp", String(3 + extraPipes)], files: [() => openSeccompFilter(filter)!] };
}

const SYSTEM_FILES = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/etc/localtime",
  "/etc/timezone",
  "/etc/ssl/openssl.cnf",
  "/nix/store",
];
const NETWORK_FILES = [
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/services",
  "/etc/gai.conf",
  "/etc/ssl/certs",
  "/etc/pki/tls/certs",
  "/etc/ca-certificates",
];

function systemFolders(): string[] {
  const links = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => linkOrBinding(path));
  return ["--ro-bind", "/usr", "/usr", ...links, ...SYSTEM_FILES.flatMap(readOnly), "--proc", "/proc", "--dev", "/dev"];
}

/** On most systems `/bin` and similar folders are links into `/usr`. */
function linkOrBinding(path: string): string[] {
  try {
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  } catch {
    return [];
  }
}

function networkFiles(): string[] {
  return [...NETWORK_FILES.flatMap(readOnly), "--ro-bind-try", realPathOr("/etc/resolv.conf"), "/etc/resolv.conf"];
}

// Parent folders come first, or they would cover their contents; writable paths follow readable ones.
function bindings({ readable, readableAs = [], writable }: BwrapOptions): string[] {
  const sorted = Array.from(new Set(readable)).toSorted((a, b) => a.length - b.length);
  const renamed = readableAs.flatMap(([path, inside]) => [...foldersAbove(inside), "--ro-bind", path, inside]);
  return [
    ...sorted.flatMap(readOnly),
    ...renamed,
    ...writable.flatMap((path) => [...foldersAbove(path), "--bind", path, path]),
  ];
}

function readOnly(path: string): string[] {
  return existsSync(path) ? [...foldersAbove(path), "--ro-bind-try", path, path] : [];
}

/** Created first, since folders that bubblewrap creates implicitly are closed to all users except root. */
function foldersAbove(path: string): string[] {
  const above = dirname(path);
  return above === "/" || above === path ? [] : [...foldersAbove(above), "--dir", above];
}

function realPathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
