/* oxlint-disable max-params -- The signatures are those of WASI. */
import type { OpenDescriptor, OpenFolder } from "./descriptors.ts";
import { GuestError } from "./errno.ts";
import type { TreeNode } from "./memory-tree.ts";
import type { GuestCall, GuestSystem } from "./guest-system.ts";

const TYPE = { device: 2, folder: 3, file: 4 } as const;
const APPEND = 1;
const ALL_RIGHTS = (1n << 30n) - 1n;
const ENTRY_BYTES = 24;

/** Returns the WASI calls that have a descriptor as argument: `fd_*`. */
export function descriptorCalls(system: GuestSystem): Record<string, GuestCall> {
  return { ...streams(system), ...states(system), ...listings(system) };
}

function streams({ memory, tree, descriptors }: GuestSystem): Record<string, GuestCall> {
  const write = (open: OpenDescriptor, bytes: Uint8Array, at: number | undefined): number => {
    if (open.kind === "folder") throw new GuestError("isdir");
    if (open.kind === "device") {
      if (open.device.write === undefined) throw new GuestError("badf");
      open.device.write(bytes);
      return bytes.length;
    }
    if (!open.writable) throw new GuestError("badf");
    const offset = at ?? (open.append ? open.node.size : open.offset);
    tree.write(open.node, bytes, offset);
    if (at === undefined) open.offset = offset + bytes.length;
    return bytes.length;
  };
  const read = (open: OpenDescriptor, into: Uint8Array, at: number | undefined): number => {
    if (open.kind === "folder") throw new GuestError("isdir");
    if (open.kind === "device") return open.device.read?.(into) ?? 0;
    if (!open.readable) throw new GuestError("badf");
    const offset = at ?? open.offset;
    const piece = open.node.bytes.subarray(offset, Math.min(offset + into.length, open.node.size));
    into.set(piece);
    if (at === undefined) open.offset = offset + piece.length;
    return piece.length;
  };
  const each = (
    move: typeof read | typeof write,
    fd: number,
    buffers: Uint8Array[],
    from: bigint | undefined,
  ): number => {
    const open = descriptors.get(fd);
    let moved = 0;
    for (const buffer of buffers) {
      const count = move(open, buffer, from === undefined ? undefined : offsetOf(from) + moved);
      moved += count;
      if (count < buffer.length) break;
    }
    return moved;
  };
  return {
    fd_read: (fd: number, buffers: number, count: number, out: number) =>
      memory.setU32(out, each(read, fd, memory.buffers(buffers, count), undefined)),
    fd_pread: (fd: number, buffers: number, count: number, from: bigint, out: number) =>
      memory.setU32(out, each(read, fd, memory.buffers(buffers, count), from)),
    fd_write: (fd: number, buffers: number, count: number, out: number) =>
      memory.setU32(out, each(write, fd, memory.buffers(buffers, count), undefined)),
    fd_pwrite: (fd: number, buffers: number, count: number, from: bigint, out: number) =>
      memory.setU32(out, each(write, fd, memory.buffers(buffers, count), from)),
    fd_seek(fd: number, by: bigint, whence: number, out: number) {
      const open = descriptors.file(fd);
      const base = [0, open.offset, open.node.size][whence];
      if (base === undefined) throw new GuestError("inval");
      open.offset = offsetOf(BigInt(base) + by);
      memory.setU64(out, BigInt(open.offset));
    },
    fd_tell: (fd: number, out: number) => memory.setU64(out, BigInt(descriptors.file(fd).offset)),
    fd_close: (fd: number) => descriptors.close(fd),
  };
}

function states({ memory, tree, descriptors }: GuestSystem): Record<string, GuestCall> {
  return {
    fd_fdstat_get(fd: number, out: number) {
      const open = descriptors.get(fd);
      memory.bytes(out, 24).fill(0);
      memory.setU8(out, TYPE[open.kind]);
      memory.setU16(out + 2, open.kind === "file" && open.append ? APPEND : 0);
      memory.setU64(out + 8, ALL_RIGHTS);
      memory.setU64(out + 16, ALL_RIGHTS);
    },
    fd_fdstat_set_flags(fd: number, flags: number) {
      const open = descriptors.get(fd);
      if (open.kind === "file") open.append = (flags & APPEND) !== 0;
    },
    fd_filestat_get(fd: number, out: number) {
      const open = descriptors.get(fd);
      memory.bytes(out, 64).fill(0);
      if (open.kind === "device") memory.setU8(out + 16, TYPE.device);
      else writeStat(memory, out, open.node);
    },
    fd_filestat_set_size(fd: number, size: bigint) {
      const open = descriptors.file(fd);
      if (!open.writable) throw new GuestError("badf");
      tree.resize(open.node, offsetOf(size));
    },
    fd_filestat_set_times: (fd: number) => void descriptors.get(fd),
    fd_advise: (fd: number) => void descriptors.get(fd),
    fd_sync: (fd: number) => void descriptors.get(fd),
    fd_datasync: (fd: number) => void descriptors.get(fd),
    fd_allocate() {
      throw new GuestError("notsup");
    },
  };
}

function listings({ memory, descriptors }: GuestSystem): Record<string, GuestCall> {
  return {
    fd_readdir(fd: number, buffer: number, length: number, cookie: bigint, out: number) {
      const open = descriptors.folder(fd);
      if (cookie === 0n) open.listing = list(open);
      const into = memory.bytes(buffer, length);
      let used = 0;
      for (let at = Number(cookie); at < open.listing.length && used < into.length; at += 1) {
        const entry = toEntry(open.listing[at]!, at + 1).subarray(0, into.length - used);
        into.set(entry, used);
        used += entry.length;
      }
      memory.setU32(out, used);
    },
    fd_prestat_get(fd: number, out: number) {
      if (fd !== 3) throw new GuestError("badf");
      memory.setU32(out, 0);
      memory.setU32(out + 4, 1);
    },
    fd_prestat_dir_name(fd: number, into: number, length: number) {
      if (fd !== 3 || length < 1) throw new GuestError("badf");
      memory.setU8(into, "/".charCodeAt(0));
    },
  };
}

function list({ node }: OpenFolder): [string, TreeNode][] {
  return [[".", node], ["..", node.parent ?? node], ...node.entries];
}

function toEntry([name, node]: readonly [string, TreeNode], next: number): Buffer {
  const text = Buffer.from(name);
  const entry = Buffer.alloc(ENTRY_BYTES + text.length);
  entry.writeBigUInt64LE(BigInt(next), 0);
  entry.writeBigUInt64LE(node.ino, 8);
  entry.writeUInt32LE(text.length, 16);
  entry.writeUInt8(TYPE[node.kind], 20);
  text.copy(entry, ENTRY_BYTES);
  return entry;
}

/** Fills the 64 bytes of a `filestat`. */
export function writeStat(memory: GuestSystem["memory"], out: number, node: TreeNode): void {
  memory.bytes(out, 64).fill(0);
  memory.setU64(out + 8, node.ino);
  memory.setU8(out + 16, TYPE[node.kind]);
  memory.setU64(out + 24, 1n);
  if (node.kind === "folder") return;
  memory.setU64(out + 32, BigInt(node.size));
  for (const at of [40, 48, 56]) memory.setU64(out + at, node.modifiedNs);
}

function offsetOf(value: bigint): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw new GuestError("inval");
  return Number(value);
}
