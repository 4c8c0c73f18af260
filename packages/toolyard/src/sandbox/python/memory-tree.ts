import { GuestError } from "./errno.ts";

const MAX_STEP_BYTES = 255;
const MAX_DEPTH = 64;
/** Maximum length of a path from the root: 255 characters below the run's own folder, like for all files of a run. */
const MAX_PATH_CHARACTERS = 261;
/** Number of folders that are allowed in addition to the number of files. */
const SPARE_FOLDERS = 16;

export interface TreeFile {
  readonly kind: "file";
  readonly ino: bigint;
  /** Buffer that may be longer than the file: only the first `size` bytes count. */
  bytes: Uint8Array;
  size: number;
  readonly readOnly: boolean;
  modifiedNs: bigint;
  /** Number of writes. */
  writes: number;
  /** Number of open descriptors. A file without a name keeps its bytes until the last one is closed. */
  opened: number;
  named: boolean;
}

export interface TreeFolder {
  readonly kind: "folder";
  readonly ino: bigint;
  readonly parent: TreeFolder | undefined;
  /** Path from the root; empty for the root itself. Folders cannot be renamed. */
  readonly path: string;
  readonly entries: Map<string, TreeNode>;
  readonly readOnly: boolean;
}

export type TreeNode = TreeFile | TreeFolder;

export interface TreeBounds {
  /** Maximum size of all writable files together. */
  readonly bytes: number;
  readonly files: number;
}

/** A place in the tree where a name exists or could be created. */
export interface TreePlace {
  readonly folder: TreeFolder;
  /** Name in the folder; empty: the folder itself. */
  readonly step: string;
  readonly node: TreeNode | undefined;
}

/**
 * All files of a guest: in memory, limited in bytes and number, without links. No real file can be reached from here.
 */
export class MemoryTree {
  readonly root: TreeFolder = {
    kind: "folder",
    ino: 1n,
    parent: undefined,
    path: "",
    entries: new Map(),
    readOnly: false,
  };
  #bounds: TreeBounds;
  #bytes = 0;
  #files = 0;
  #folders = 0;
  #nextIno = 2n;

  constructor(bounds: TreeBounds) {
    this.#bounds = bounds;
  }

  setBounds(bounds: TreeBounds): void {
    this.#bounds = bounds;
  }

  /** Resolves a path from a folder. A path that would leave the tree stays at its root. */
  find(from: TreeFolder, path: string): TreePlace {
    const steps = path.split("/").filter((step) => step !== "" && step !== ".");
    if (steps.length > MAX_DEPTH) throw new GuestError("nametoolong");
    let place: TreePlace = { folder: from, step: "", node: from };
    for (const step of steps) {
      const folder = place.node;
      if (folder === undefined) throw new GuestError("noent");
      if (folder.kind !== "folder") throw new GuestError("notdir");
      if (Buffer.byteLength(step) > MAX_STEP_BYTES) throw new GuestError("nametoolong");
      const up = folder.parent ?? folder;
      place = step === ".." ? { folder: up, step: "", node: up } : { folder, step, node: folder.entries.get(step) };
    }
    return place;
  }

  get(from: TreeFolder, path: string): TreeNode {
    const { node } = this.find(from, path);
    if (node === undefined) throw new GuestError("noent");
    return node;
  }

  addFolder(place: TreePlace): TreeFolder {
    this.#assertFree(place);
    if (this.#folders >= this.#bounds.files + SPARE_FOLDERS) throw new GuestError("nospc");
    this.#folders += 1;
    return this.#hang(place, false);
  }

  /**
   * Adds a folder of the host: it does not count towards the limits, and the guest cannot write to it.
   * @param fill Adds the entries of the folder when the guest first reads it. @default the folder stays empty
   */
  addOwnFolder(place: TreePlace, fill?: (folder: TreeFolder) => void): TreeFolder {
    return this.#hang(place, true, fill);
  }

  #hang(place: TreePlace, readOnly: boolean, fill?: (folder: TreeFolder) => void): TreeFolder {
    const entries = new Map<string, TreeNode>();
    let isFilled = fill === undefined;
    const folder: TreeFolder = {
      kind: "folder",
      ino: this.#nextIno++,
      parent: place.folder,
      path: pathOf(place),
      get entries() {
        if (isFilled) return entries;
        isFilled = true;
        fill!(folder);
        return entries;
      },
      readOnly,
    };
    place.folder.entries.set(place.step, folder);
    return folder;
  }

  addFile(place: TreePlace): TreeFile {
    this.#assertFree(place);
    if (this.#files >= this.#bounds.files) throw new GuestError("nospc");
    const file: TreeFile = {
      kind: "file",
      ino: this.#nextIno++,
      bytes: new Uint8Array(),
      size: 0,
      readOnly: false,
      modifiedNs: now(),
      writes: 0,
      opened: 0,
      named: true,
    };
    this.#files += 1;
    place.folder.entries.set(place.step, file);
    return file;
  }

  /** Adds a file of the host: it does not count towards the limits, and the guest cannot write to it. */
  addReadOnly(place: TreePlace, bytes: Uint8Array): void {
    const file: TreeFile = {
      kind: "file",
      ino: this.#nextIno++,
      bytes,
      size: bytes.length,
      readOnly: true,
      modifiedNs: 0n,
      writes: 0,
      opened: 0,
      named: true,
    };
    place.folder.entries.set(place.step, file);
  }

  /** Adds a file and its parent folders; an existing file is replaced. */
  put(path: string, bytes: Uint8Array): TreeFile {
    const steps = path.split("/");
    const step = steps.pop()!;
    let folder = this.root;
    for (const name of steps) {
      const place = this.find(folder, name);
      if (place.node?.kind === "file") throw new GuestError("notdir");
      folder = place.node ?? this.addFolder(place);
    }
    const place = this.find(folder, step);
    if (place.node?.kind === "folder" || place.step === "") throw new GuestError("isdir");
    const file = place.node ?? this.addFile(place);
    this.resize(file, 0);
    this.write(file, bytes, 0);
    return file;
  }

  write(file: TreeFile, bytes: Uint8Array, at: number): void {
    if (file.readOnly) throw new GuestError("rofs");
    const end = at + bytes.length;
    if (end > file.size) this.resize(file, end);
    file.bytes.set(bytes, at);
    this.#touch(file);
  }

  resize(file: TreeFile, size: number): void {
    if (file.readOnly) throw new GuestError("rofs");
    const bytes = this.#bytes - file.size + size;
    if (size > file.size && bytes > this.#bounds.bytes) throw new GuestError("nospc");
    if (size > file.bytes.length) {
      const grown = new Uint8Array(Math.min(Math.max(size, file.bytes.length * 2), Math.max(size, this.#bounds.bytes)));
      grown.set(file.bytes.subarray(0, file.size));
      file.bytes = grown;
    } else if (size < file.size) {
      file.bytes = size === 0 ? new Uint8Array() : file.bytes.slice(0, size);
    }
    this.#bytes = bytes;
    file.size = size;
    this.#touch(file);
  }

  removeFile(place: TreePlace): void {
    const { node } = place;
    if (node === undefined) throw new GuestError("noent");
    if (node.kind === "folder") throw new GuestError("isdir");
    if (node.readOnly) throw new GuestError("rofs");
    place.folder.entries.delete(place.step);
    node.named = false;
    this.release(node);
  }

  removeFolder(place: TreePlace): void {
    const { node } = place;
    if (node === undefined) throw new GuestError("noent");
    if (node.kind !== "folder") throw new GuestError("notdir");
    if (node.entries.size > 0) throw new GuestError("notempty");
    if (node.readOnly || place.step === "") throw new GuestError("perm");
    place.folder.entries.delete(place.step);
    this.#folders -= 1;
  }

  rename(from: TreePlace, to: TreePlace): void {
    const { node } = from;
    if (node === undefined) throw new GuestError("noent");
    if (node.readOnly || to.folder.readOnly || to.node?.readOnly === true) throw new GuestError("rofs");
    // A folder cannot be moved, because its `..` would still refer to the old parent.
    if (node.kind === "folder" || from.step === "" || to.step === "") throw new GuestError("notsup");
    if (to.node === node) return;
    assertName(to);
    if (to.node !== undefined) this.removeFile(to);
    from.folder.entries.delete(from.step);
    to.folder.entries.set(to.step, node);
  }

  /** Frees the bytes of a file that has neither a name nor a descriptor. */
  release(file: TreeFile): void {
    if (file.named || file.opened > 0 || file.readOnly) return;
    this.resize(file, 0);
    this.#files -= 1;
  }

  #touch(file: TreeFile): void {
    file.modifiedNs = now();
    file.writes += 1;
  }

  #assertFree(place: TreePlace): void {
    if (place.step === "" || place.node !== undefined) throw new GuestError("exist");
    if (place.folder.readOnly) throw new GuestError("rofs");
    assertName(place);
  }
}

function pathOf({ folder, step }: TreePlace): string {
  return `${folder.path}/${step}`;
}

/** Throws unless the name is valid on every system that may receive the file. */
function assertName(place: TreePlace): void {
  if (place.step.includes("\\")) throw new GuestError("inval");
  if (pathOf(place).length > MAX_PATH_CHARACTERS) throw new GuestError("nametoolong");
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
