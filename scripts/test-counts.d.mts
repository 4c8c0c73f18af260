export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export declare function withEarlierCounts(file: string | undefined, counts: TestCounts, isLater: boolean): TestCounts;
