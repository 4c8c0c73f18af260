import { type Graph, isRacy, readGraph, signatureOf } from "./graph.ts";

/** State of files, compared with the previous check. `touched`: written again with the same contents. */
export type FingerprintState = "same" | "touched" | "changed";

/**
 * The files of a module at one time. Compares them cheaply with the disk, to decide whether importing the module again
 * would give a different result.
 */
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

  /** Checks each file once, synchronously. The next call compares with the state that this call has found. */
  check(): FingerprintState {
    const { files, version } = this.#graph;
    const isTouched = files.some((file, at) => signatureOf(file) !== this.#signatures[at]);
    if (!isTouched && !this.#racy) return "same";
    this.#graph = this.#read();
    if (this.#graph.version !== version) return "changed";
    return isTouched ? "touched" : "same";
  }

  #read(): Graph {
    // File times and sizes are read before the contents, so that the next check detects a write between the two.
    let graph = readGraph(this.#entry);
    this.#signatures = graph.files.map(signatureOf);
    this.#racy = graph.files.some(isRacy);
    graph = readGraph(this.#entry);
    if (graph.files.length !== this.#signatures.length) this.#racy = true;
    return graph;
  }
}
