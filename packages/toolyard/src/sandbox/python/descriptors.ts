import { GuestError } from "./errno.ts";
import type { MemoryTree, TreeFile, TreeFolder, TreeNode } from "./memory-tree.ts";

const MAX_OPEN = 128;
const FIRST_FREE = 4;

/** The object of a descriptor that is neither a file nor a folder. */
export interface Device {
  /** Writes all bytes. */
  write?(bytes: Uint8Array): void;
  /** Fills `into` and returns the number of bytes; 0 if there are none. */
  read?(into: Uint8Array): number;
}

export interface OpenFile {
  readonly kind: "file";
  readonly node: TreeFile;
  readonly readable: boolean;
  readonly writable: boolean;
  append: boolean;
  offset: number;
}

export interface OpenFolder {
  readonly kind: "folder";
  readonly node: TreeFolder;
  /** Snapshot of the entries when the listing began. */
  listing: readonly (readonly [string, TreeNode])[];
}

export interface OpenDevice {
  readonly kind: "device";
  readonly device: Device;
}

export type OpenDescriptor = OpenFile | OpenFolder | OpenDevice;

/** File descriptors of the guest: 0 to 2 are its standard streams, 3 is the root of its files. */
export class Descriptors {
  readonly #open = new Map<number, OpenDescriptor>();
  readonly #tree: MemoryTree;

  constructor(tree: MemoryTree, streams: readonly [Device, Device, Device]) {
    this.#tree = tree;
    for (const [number, device] of streams.entries()) this.#open.set(number, { kind: "device", device });
    this.#open.set(3, { kind: "folder", node: tree.root, listing: [] });
  }

  get(number: number): OpenDescriptor {
    const open = this.#open.get(number);
    if (open === undefined) throw new GuestError("badf");
    return open;
  }

  file(number: number): OpenFile {
    const open = this.get(number);
    if (open.kind === "folder") throw new GuestError("isdir");
    if (open.kind === "device") throw new GuestError("spipe");
    return open;
  }

  folder(number: number): OpenFolder {
    const open = this.get(number);
    if (open.kind !== "folder") throw new GuestError("notdir");
    return open;
  }

  add(open: OpenDescriptor): number {
    if (this.#open.size >= MAX_OPEN) throw new GuestError("mfile");
    let number = FIRST_FREE;
    while (this.#open.has(number)) number += 1;
    if (open.kind === "file") open.node.opened += 1;
    this.#open.set(number, open);
    return number;
  }

  /** Descriptors that the guest opened itself. */
  get opened(): readonly number[] {
    return [...this.#open.keys()].filter((number) => number >= FIRST_FREE);
  }

  close(number: number): void {
    const open = this.get(number);
    this.#open.delete(number);
    if (open.kind !== "file") return;
    open.node.opened -= 1;
    this.#tree.release(open.node);
  }
}
