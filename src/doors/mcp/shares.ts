/**
 * Who holds how many of something that is bounded for all callers together, so that nobody's appetite drives out the
 * others.
 */
export class Shares {
  readonly #held = new Map<string, number>();

  add(principalId: string): void {
    this.#held.set(principalId, this.of(principalId) + 1);
  }

  remove(principalId: string): void {
    const left = this.of(principalId) - 1;
    if (left > 0) this.#held.set(principalId, left);
    else this.#held.delete(principalId);
  }

  of(principalId: string): number {
    return this.#held.get(principalId) ?? 0;
  }

  /** Whoever holds the most; nobody when nothing is held. */
  get largest(): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const [principalId, count] of this.#held) {
      if (count <= most) continue;
      largest = principalId;
      most = count;
    }
    return largest;
  }

  /**
   * Who must make room for one more of `principalId`: whoever holds the most, if that is more than the newcomer would
   * then have.
   */
  debtorTo(principalId: string): string | undefined {
    const { largest } = this;
    return largest !== undefined && this.of(largest) > this.of(principalId) + 1 ? largest : undefined;
  }
}
