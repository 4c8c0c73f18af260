import { type Graph, isRacy, readGraph, signatureOf } from "./graph.ts";

/** `touched`: written anew, with the same contents. */
export type FingerprintState = "same" | "touched" | "changed";

/** The files of a module at one moment, to tell cheaply whether importing it again would give something new. */
export class Fingerprint {
  readonly #entry: string;
  #graph: Graph;
  #signatures: readonly string[] = [];
  #racy = false;

  constructor(entry: string) {
    this.#entry = entry;
    this.#graph = this.#read();
  }

  get graph(): Graph {
    return this.#graph;
  }

  /** Looks at the disk now, synchronously, once per file. After `changed` the graph is the new one. */
  check(): FingerprintState {
    const { files, version } = this.#graph;
    const isTouched = files.some((file, at) => signatureOf(file) !== this.#signatures[at]);
    if (!isTouched && !this.#racy) return "same";
    this.#graph = this.#read();
    if (this.#graph.version !== version) return "changed";
    return isTouched ? "touched" : "same";
  }

  #read(): Graph {
    // Signatures come first: what is written between the two looks is then seen by the next check.
    let graph = readGraph(this.#entry);
    this.#signatures = graph.files.map(signatureOf);
    this.#racy = graph.files.some(isRacy);
    graph = readGraph(this.#entry);
    if (graph.files.length !== this.#signatures.length) this.#racy = true;
    return graph;
  }
}
