export declare function cpuMs(pid: number): number;
export declare function memoryMb(pid: number): { readonly resident: number; readonly own: number };
export declare function timed(work: () => Promise<unknown>): Promise<number>;
export declare function runMs(command: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<number>;
export declare function least(values: readonly number[]): number;
export declare function median(values: readonly number[]): number;
export declare function ms(value: number): string;
export declare function spread(values: readonly number[]): string;
