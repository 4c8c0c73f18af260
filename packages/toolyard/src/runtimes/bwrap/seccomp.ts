// A system call filter for programs behind bubblewrap, in the kernel's classic BPF, without a library. It denies calls
// that attacks on the kernel need and ordinary programs do not. The isolation itself comes from the namespaces.
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface FilterOptions {
  /** True if `socket` is allowed. `socketpair` is always allowed: runtimes use it inside one process. */
  readonly sockets: boolean;
  /** True if processes may be started. Threads are always allowed, and a program may replace itself with another. */
  readonly processes: boolean;
}

/** Returns the filter's bytes for this machine, or `undefined` for a processor with unknown system calls. */
export function seccompFilter(
  { sockets, processes }: FilterOptions,
  architecture: NodeJS.Architecture = process.arch,
): Buffer | undefined {
  const machine = MACHINES[architecture];
  if (!machine) return undefined;
  const numbers = [
    ...machine.denied,
    ...COMMON_DENIED,
    ...(sockets ? [] : [machine.socket]),
    ...(processes ? [] : machine.forks),
  ];
  const threadsOnly: Instruction[] = [
    [IF_ANY_BIT, 1, 0, THREAD],
    [RETURN, 0, 0, REFUSE | EPERM],
  ];
  return assemble([
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [IF_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    // Numbers above this limit are x32 variants of the same calls, so they are denied.
    [IF_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, KILL],
    ...numbers.flatMap((number): Instruction[] => [
      [IF_EQUAL, 0, 1, number],
      [RETURN, 0, 0, REFUSE | EPERM],
    ]),
    // `clone3` is reported as missing, because its flags are in memory, which a filter cannot read. Libraries then use
    // `clone`.
    [IF_EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, REFUSE | ENOSYS],
    [IF_EQUAL, 0, processes ? 3 : 5, machine.clone],
    [LOAD, 0, 0, FIRST_ARGUMENT_AT],
    ...(processes ? [] : threadsOnly),
    [IF_ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, REFUSE | EPERM],
    [RETURN, 0, 0, ALLOW],
  ]);
}

const held = new Map<string, number | undefined>();

/**
 * Returns a newly opened descriptor for the filter: bubblewrap reads it to its end, so two starts cannot share one.
 * Close it once the child runs. Returns `undefined` if there is no filter for this processor.
 */
export function openSeccompFilter(options: FilterOptions): number | undefined {
  const key = `${options.sockets} ${options.processes}`;
  if (!held.has(key)) held.set(key, hold(seccompFilter(options)));
  const descriptor = held.get(key);
  return descriptor === undefined ? undefined : openSync(`/proc/self/fd/${descriptor}`, "r");
}

// Writes the filter to a deleted file: no other process can change it, and it disappears with this process.
function hold(filter: Buffer | undefined): number | undefined {
  if (!filter) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "toolyard-filter-"));
  try {
    const path = join(folder, "filter");
    writeFileSync(path, filter, { mode: 0o400 });
    return openSync(path, "r");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

// Instructions and constants of the kernel's `linux/filter.h` and `linux/seccomp.h`.
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const FIRST_ARGUMENT_AT = 16;
const ALLOW = 0x7fff0000;
const REFUSE = 0x00050000;
const KILL = 0x80000000;
const EPERM = 1;
const ENOSYS = 38;
const X32 = 0x40000000;
const CLONE3 = 435;
/** Flags CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID and NET. */
const NEW_NAMESPACES = 0x7e020000;
/** Flag CLONE_THREAD. */
const THREAD = 0x10000;

interface FilterMachine {
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  /** Numbers of fork and vfork, on processors that have these calls. */
  readonly forks: readonly number[];
  readonly denied: readonly number[];
}

/** Denied calls with the same number on all processors: io_uring, new mount calls, `pidfd_getfd`. */
const COMMON_DENIED = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443];

// In this order: ptrace mount umount2 pivot_root chroot unshare setns bpf keyctl add_key request_key perf_event_open
// userfaultfd init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff settimeofday
// clock_settime adjtimex clock_adjtime acct quotactl open_by_handle_at name_to_handle_at process_vm_readv
// process_vm_writev syslog lookup_dcookie nfsservctl vhangup personality kcmp fanotify_init; for x64 also iopl ioperm
// uselib sysfs _sysctl.
const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, FilterMachine>>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
    forks: [57, 58],
    denied: [
      101, 165, 166, 155, 161, 272, 308, 321, 250, 248, 249, 298, 323, 175, 313, 176, 246, 320, 169, 167, 168, 164, 227,
      159, 305, 163, 179, 304, 303, 310, 311, 103, 212, 180, 153, 135, 312, 300, 172, 173, 134, 139, 156,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    socket: 198,
    forks: [],
    denied: [
      117, 40, 39, 41, 51, 97, 268, 280, 219, 217, 218, 241, 282, 105, 273, 106, 104, 294, 142, 224, 225, 170, 112, 171,
      266, 89, 60, 265, 264, 270, 271, 116, 18, 42, 58, 92, 272, 262,
    ],
  },
};
