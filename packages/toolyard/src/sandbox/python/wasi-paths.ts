/* oxlint-disable max-params -- The signatures are those of WASI. */
import type { OpenDescriptor } from "./descriptors.ts";
import { GuestError, type Errno } from "./errno.ts";
import type { TreeNode, TreePlace } from "./memory-tree.ts";
import type { GuestCall, GuestSystem } from "./guest-system.ts";
import { writeStat } from "./wasi-descriptors.ts";

const CREATE = 1;
const FOLDER_ONLY = 2;
const EXCLUSIVE = 4;
const TRUNCATE = 8;
const APPEND = 1;
const READ_RIGHT = 1n << 1n;
const WRITE_RIGHT = 1n << 6n;

interface OpenWish {
  readonly how: number;
  readonly rights: bigint;
  readonly flags: number;
}

/**
 * Returns the WASI calls that have a path as argument: `path_*`. There are no links: their calls fail with ENOTSUP or
 * EINVAL.
 */
export function pathCalls(system: GuestSystem): Record<string, GuestCall> {
  const { memory, tree, descriptors } = system;
  const place = (fd: number, path: number, length: number): TreePlace =>
    tree.find(descriptors.folder(fd).node, memory.text(path, length));
  const noLinks = (): never => {
    throw new GuestError("notsup");
  };
  return {
    path_open(
      fd: number,
      _: number,
      path: number,
      length: number,
      how: number,
      rights: bigint,
      __: bigint,
      flags: number,
      out: number,
    ) {
      memory.u32(out);
      memory.setU32(out, descriptors.add(open(system, place(fd, path, length), { how, rights, flags })));
    },
    path_filestat_get(fd: number, _: number, path: number, length: number, out: number) {
      const { node } = place(fd, path, length);
      if (node === undefined) throw new GuestError("noent");
      writeStat(memory, out, node);
    },
    path_filestat_set_times: (fd: number, _: number, path: number, length: number) =>
      void tree.get(descriptors.folder(fd).node, memory.text(path, length)),
    path_create_directory: (fd: number, path: number, length: number) => void tree.addFolder(place(fd, path, length)),
    path_remove_directory: (fd: number, path: number, length: number) => tree.removeFolder(place(fd, path, length)),
    path_unlink_file: (fd: number, path: number, length: number) => tree.removeFile(place(fd, path, length)),
    path_rename: (fd: number, path: number, length: number, toFd: number, toPath: number, toLength: number) =>
      tree.rename(place(fd, path, length), place(toFd, toPath, toLength)),
    path_readlink() {
      throw new GuestError("inval");
    },
    path_link: noLinks,
    path_symlink: noLinks,
  };
}

function open({ tree, devices }: GuestSystem, place: TreePlace, wish: OpenWish): OpenDescriptor {
  const device = place.folder === tree.root ? devices.get(place.step) : undefined;
  if (device !== undefined) return { kind: "device", device };
  const { node } = place;
  const refusal = node === undefined ? refusalOfNothing(wish) : refusalOf(node, wish);
  if (refusal !== undefined) throw new GuestError(refusal);
  if (node?.kind === "folder") return { kind: "folder", node, listing: [] };
  const file = node ?? tree.addFile(place);
  if (isAsked(wish, TRUNCATE)) tree.resize(file, 0);
  return {
    kind: "file",
    node: file,
    readable: (wish.rights & READ_RIGHT) !== 0n,
    writable: isWriting(wish),
    append: (wish.flags & APPEND) !== 0,
    offset: 0,
  };
}

function refusalOfNothing(wish: OpenWish): Errno | undefined {
  return isAsked(wish, FOLDER_ONLY) || !isAsked(wish, CREATE) ? "noent" : undefined;
}

/** Returns the first error of an open call, in the order that WASI specifies; undefined if there is none. */
function refusalOf(node: TreeNode, wish: OpenWish): Errno | undefined {
  if (isAsked(wish, CREATE) && isAsked(wish, EXCLUSIVE)) return "exist";
  if (node.kind === "folder") return isWriting(wish) ? "isdir" : undefined;
  if (isAsked(wish, FOLDER_ONLY)) return "notdir";
  return node.readOnly && (isWriting(wish) || isAsked(wish, TRUNCATE)) ? "rofs" : undefined;
}

function isAsked({ how }: OpenWish, flag: number): boolean {
  return (how & flag) !== 0;
}

function isWriting({ rights }: OpenWish): boolean {
  return (rights & WRITE_RIGHT) !== 0n;
}
