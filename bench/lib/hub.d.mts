export declare const root: string;
export declare const cli: string;

export interface RunningHub {
  readonly url: string;
  readonly pid: number;
  /** Time of the start, on the clock of `performance.now()`. */
  readonly startedAt: number;
  stop(): Promise<void>;
}

export interface Client {
  list(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  listText(): Promise<string>;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  close(): void;
}

export interface HubOptions {
  readonly home: string;
  readonly node?: string;
}

export declare function startHub(config: string, options: HubOptions): Promise<RunningHub>;
export declare function withHub<T>(
  config: string,
  options: HubOptions,
  work: (hub: RunningHub, client: Client) => Promise<T>,
): Promise<T>;
export declare function modernClient(url: string): Client;
export declare function legacyClient(url: string, options?: { readonly isSplit?: boolean }): Promise<Client>;
