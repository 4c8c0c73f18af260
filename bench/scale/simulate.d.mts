export interface Load {
  readonly sessions: number;
  readonly legacyShare: number;
  readonly callEvery: number;
  readonly sessionTime: number;
  readonly callTime: number;
  readonly limitedShare: number;
  readonly streamedShare: number;
  readonly eventsPerStream: number;
  readonly askingShare: number;
  readonly listeningShare: number;
  readonly resourceUpdateEvery: number;
  readonly replacedPerDay: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
}

export interface SimulationResult {
  readonly hubs: number;
  readonly calls: number;
  readonly relayed: number;
  readonly commands: Readonly<Record<string, number>>;
}

export interface Costs {
  readonly storeUs: Readonly<Record<string, number>>;
  readonly hubUs: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<string, number>>;
  readonly relayHeadBytes: number;
}

export declare const LOAD: Load;
export declare function simulate(
  hubs: number,
  options?: { readonly load?: Load; readonly seconds?: number; readonly sample?: number; readonly seed?: number },
): SimulationResult;
export declare function usage(result: SimulationResult, costs: Costs, load?: Load): Readonly<Record<string, number>>;
export declare function saturation(
  used: Readonly<Record<string, number>>,
): readonly { readonly name: string; readonly part: number; readonly isFull: boolean }[];
