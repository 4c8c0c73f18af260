import type { FailError } from "../../packages/toolyard/src/core/errors.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { TaskObserver, TaskRun } from "../../packages/toolyard/src/core/ports/tasks.ts";

/** Running call of a task that a test controls. */
export class ControlledRun implements TaskRun {
  readonly isIdempotent: Promise<boolean>;
  readonly answers: JsonObject[] = [];
  readonly refused: (readonly [key: string, message: string])[] = [];
  open: JsonObject = {};
  reason: unknown;
  observer!: TaskObserver;

  constructor(isIdempotent = false) {
    this.isIdempotent = Promise.resolve(isIdempotent);
  }

  observe(observer: TaskObserver): void {
    this.observer = observer;
  }

  openInput(): JsonObject {
    return this.open;
  }

  respond(responses: JsonObject): void {
    this.answers.push(responses);
  }

  refuse(key: string, error: FailError): void {
    this.refused.push([key, error.message]);
  }

  cancel(reason: unknown): void {
    this.reason = reason;
  }
}
