/** The readings of a conversation: which one is shown, and whether others have deleted something since the last one. */
export class Readings {
  private last = 0;
  private shown = 0;
  /** How many messages there were; null where fewer are no surprise. */
  private count: number | null = null;
  private deletions = 0;

  /** The number of a reading that begins now. */
  begin(): number {
    return (this.last += 1);
  }

  /** Whether a reading is to be shown: one that arrives after a later one is not. */
  takes(reading: number): boolean {
    if (reading < this.shown) return false;
    this.shown = reading;
    return true;
  }

  /** Whether there are fewer messages now than before, although nothing was done here that would explain it. */
  hasFallen(count: number): boolean {
    const before = this.count;
    this.count = this.deletions > 0 ? null : count;
    return this.deletions === 0 && before !== null && count < before;
  }

  /** Something is done here after which there may be fewer messages. */
  expectFewer(): void {
    this.count = null;
  }

  async whileDeleting(act: () => Promise<void>): Promise<void> {
    this.deletions += 1;
    try {
      await act();
    } finally {
      this.deletions -= 1;
      this.expectFewer();
    }
  }
}
