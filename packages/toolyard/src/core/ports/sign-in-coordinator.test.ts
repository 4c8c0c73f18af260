import { expect, test } from "vitest";
import { SignInCoordinator, type WaitingSignIn } from "./sign-in-coordinator.ts";

/** Returns a function that registers a pending sign-in. The sign-in adds its name to `ended` when it is displaced. */
function waiter(
  desk: SignInCoordinator,
  ended: string[],
): (principal: string, source?: string, name?: string) => () => void {
  return (principal, source = "far", name = principal) => {
    const signIn: WaitingSignIn = {
      owner: { principal, connection: source },
      end: () => void ended.push(name),
      page: () => undefined,
      back: () => undefined,
    };
    return desk.wait(signIn);
  };
}

test("the ninth sign-in of one principal to one source ends the oldest one", () => {
  const ended: string[] = [];
  const wait = waiter(new SignInCoordinator(undefined), ended);
  for (let at = 0; at < 10; at += 1) wait("ann", "far", `ann ${at}`);
  wait("ann", "near", "near");
  wait("ben");
  expect(ended).toEqual(["ann 0", "ann 1"]);
});

test("if the table of sign-ins is full, a new one ends one of the principal with the most sign-ins", () => {
  const ended: string[] = [];
  const desk = new SignInCoordinator(undefined);
  const wait = waiter(desk, ended);
  for (let at = 0; at < 1000; at += 1) wait("ann", `source ${at}`, "ann");
  for (let at = 0; at < 400; at += 1) wait(`p${at}`);
  expect(new Set(ended)).toEqual(new Set(["ann"]));
  expect(ended).toHaveLength(400);
});

test("a principal within its share keeps its sign-ins, and a further one is refused as limited", () => {
  const ended: string[] = [];
  const wait = waiter(new SignInCoordinator(undefined), ended);
  const leaves = Array.from({ length: 1000 }, (_, at) => wait(`p${at}`));
  expect(() => wait("late")).toThrow(/1000 sign-ins wait for a browser/);
  leaves[3]!();
  wait("late");
  expect(ended).toEqual([]);
});
