export interface PythonWorkerOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time limit of each script. */
  readonly timeoutMs: number;
}
export declare class PythonWorker {
  constructor(binary: string, options: PythonWorkerOptions);
  run(argv: readonly [script: string, ...args: string[]]): Promise<string>;
  close(): Promise<void>;
}
