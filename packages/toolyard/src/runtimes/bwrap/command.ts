// Bubblewrap's command line: the part of the machine that a contained program sees. It has its own view of processes,
// files, network, users and host names. Paths that are not bound do not exist inside.
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { prlimitArguments, type MemoryMeasure, type ResourceLimits } from "../../process/resource-limits.ts";
import { openSeccompFilter, seccompFilter } from "./seccomp.ts";

/**
 * Programs with which bubblewrap is used on this machine, and the way in which a contained program becomes user
 * `nobody`.
 */
export interface BwrapFound {
  /** Full path of bubblewrap. */
  readonly file: string;
  /**
   * Way in which the program becomes user `nobody`. `namespace`: the hub is not root, so the user of the program is
   * named `nobody` inside a user namespace. If the hub is root, the program drops root's rights permanently. With
   * `inside`, this happens after binding, so that paths can be bound that only root can enter. With `outside`, it
   * happens before, because root may not create namespaces on this machine.
   */
  readonly identity: "namespace" | "inside" | "outside";
  /** Full path of setpriv; empty if the hub is not root. */
  readonly setpriv: string;
  /** Full path of prlimit; without it, resource limits are not enforced. */
  readonly prlimit: string | undefined;
}

export interface BwrapOptions {
  /** Full path of the program, as the contained program sees it. */
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder, as the contained program sees it: a bound folder, or `/tmp`. */
  readonly cwd: string;
  /** Files and folders of this machine that may be read, at the same path. Missing ones are skipped. */
  readonly readable: readonly string[];
  /** Files and folders that may also be written. */
  readonly writable: readonly string[];
  /** Folders of this machine that may be read under another path. */
  readonly readableAs?: readonly (readonly [path: string, inside: string])[];
  /** Empty folders in memory, with their maximum size in bytes. */
  readonly scratch?: readonly (readonly [inside: string, bytes: number])[];
  /** True if the program may start processes. @default true */
  readonly processes?: boolean;
  /** True: the machine's own network. False: no network, not even the loopback of this machine. */
  readonly network: boolean;
  /** Maximum size of `/tmp` and all other temporary files inside. @default 64 MiB */
  readonly tmpBytes?: number;
  readonly limits: ResourceLimits;
  readonly measure: MemoryMeasure;
  /**
   * Number of pipes of the child in addition to the three standard ones. The descriptor of the system call filter
   * follows them.
   */
  readonly extraPipes: number;
}

/** Arguments for `spawnChild`; pass `files` to it, too. */
export interface BwrapCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly files: readonly (() => number)[];
}

const DEFAULT_TMP_BYTES = 64 * 1024 * 1024;

/**
 * Returns the command line that runs a program behind bubblewrap: only `/usr` and bound paths, an empty `/tmp`, its own
 * `/proc` and a few devices; user `nobody` without capabilities; filtered system calls; limits. If the program or the
 * hub ends, the kernel ends all children. The environment is that of the spawned child: pass `insideEnvironment(env)`.
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
    // The root and `/dev` become read-only. Otherwise the program could write to the mount points of bindings and
    // devices, beyond the limit of `/tmp`.
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

/** Returns the environment of a contained program: without the home folder, and with `/tmp` for temporary files. */
export function insideEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...env, HOME: "/tmp", TMPDIR: "/tmp" };
}

/**
 * Returns the folders that a program outside `/usr` needs: `bin`, `lib` and other siblings if it is in a `bin`,
 * otherwise only its file. Never returns the parent folder itself, because it may be a home folder.
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
// Root keeps the right to bind paths that only root can enter. The program itself becomes `nobody`, because the limit
// of processes does not apply to root.
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

/** Returns the arguments that repeat a symbolic link, such as `/bin` on most systems, or bind a folder. */
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

// Returns the bindings in a valid order. Parent folders come first, because they would otherwise hide their contents.
// Writable paths come after readable ones.
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

/**
 * Returns the parent folders of a path. They are created explicitly, since folders that bubblewrap creates implicitly
 * are closed to all users except root.
 */
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
