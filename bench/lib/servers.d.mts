export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): void;
}

export declare function startServer(name: string, args?: readonly string[]): Promise<Server>;
export declare function startChildrenDirectly(count: number): Promise<number>;
