import type { SandboxFile, SandboxJob } from "../engine.ts";
import type { MemoryTree, TreeFile, TreeFolder } from "./memory-tree.ts";

/** Folder of the run, relative to the root of its tree. Files outside of it are not artifacts. */
const WORK_FOLDER = "work";

interface Before {
  readonly node: TreeFile;
  readonly writes: number;
}

/** The input files of a job, and the files that it creates. */
export class PythonJobFiles {
  readonly #tree: MemoryTree;
  #before = new Map<string, Before>();

  constructor(tree: MemoryTree) {
    this.#tree = tree;
    for (const step of [WORK_FOLDER, "tmp"]) tree.addFolder(tree.find(tree.root, step));
  }

  begin({ files, limits }: SandboxJob): void {
    this.#tree.setBounds({ bytes: limits.fileBytes, files: limits.files });
    for (const file of files) this.#tree.put(`${WORK_FOLDER}/${file.path}`, file.bytes);
    this.#before = new Map([...this.#walk()].map(([path, node]) => [path, { node, writes: node.writes }]));
  }

  /** Returns files that the run created or changed, in the order of their folders. */
  artifacts(): SandboxFile[] {
    const changed: SandboxFile[] = [];
    for (const [path, node] of this.#walk()) {
      const before = this.#before.get(path);
      if (before?.node === node && before.writes === node.writes) continue;
      changed.push({ path, bytes: node.bytes.slice(0, node.size) });
    }
    return changed;
  }

  #walk(): Generator<[string, TreeFile]> {
    const work = this.#tree.find(this.#tree.root, WORK_FOLDER).node;
    return walk(work?.kind === "folder" ? work : this.#tree.root, "");
  }
}

function* walk(folder: TreeFolder, prefix: string): Generator<[string, TreeFile]> {
  for (const [name, node] of folder.entries) {
    if (node.kind === "file") yield [`${prefix}${name}`, node];
    else yield* walk(node, `${prefix}${name}/`);
  }
}
