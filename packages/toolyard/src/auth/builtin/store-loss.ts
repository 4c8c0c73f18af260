import { AsyncLocalStorage } from "node:async_hooks";
import { StoreLostError } from "../../state/ports/store.ts";
import type { ModelAdapter } from "./adapter.ts";

interface LossNote {
  error?: StoreLostError;
}

const notes = new AsyncLocalStorage<LossNote>();

/**
 * Runs `work`, and rejects with the `StoreLostError` of an adapter that it has called. The library would convert the
 * error to a page, or to a redirect to the client.
 */
export async function withStoreLoss<T>(work: () => Promise<T>): Promise<T> {
  const note: LossNote = {};
  const result = await notes.run(note, work);
  if (note.error) throw note.error;
  return result;
}

/** Returns an adapter that notes a `StoreLostError` for `withStoreLoss`. */
export function notingLoss(adapter: ModelAdapter): ModelAdapter {
  const noted = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      const note = notes.getStore();
      if (note && error instanceof StoreLostError) note.error = error;
      throw error;
    }
  };
  return {
    upsert: (...facts) => noted(adapter.upsert(...facts)),
    find: (id) => noted(adapter.find(id)),
    findByUid: (uid) => noted(adapter.findByUid(uid)),
    findByUserCode: (code) => noted(adapter.findByUserCode(code)),
    consume: (id) => noted(adapter.consume(id)),
    destroy: (id) => noted(adapter.destroy(id)),
    revokeByGrantId: (id) => noted(adapter.revokeByGrantId(id)),
  };
}
