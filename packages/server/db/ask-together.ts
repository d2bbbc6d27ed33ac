/**
 * Questions that several people ask at the same time, answered once. Everybody who looks at the same list has their browser ask
 * for it every few seconds, and what one look at 5,000 DAGs costs should not be paid by each of them.
 *
 * Nobody is answered with what was read before they asked: while an answer is under way, whoever asks the same waits for the next
 * one, which begins when it is there and is for all who wait.
 */
export type AskTogether = <T>(key: string, ask: () => Promise<T>) => Promise<T>;

export function createAskTogether(): AskTogether {
  type UnderWay = { answer: Promise<unknown>; next: Promise<unknown> | undefined };
  const underWay = new Map<string, UnderWay>();

  function begin<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const own: UnderWay = { answer: ask(), next: undefined };
    underWay.set(key, own);
    const end = (): void => {
      if (own.next === undefined) underWay.delete(key);
    };
    own.answer.then(end, end);
    return own.answer as Promise<T>;
  }

  return <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    const before = underWay.get(key);
    if (!before) return begin(key, ask);
    const goOn = (): Promise<T> => begin(key, ask);
    before.next ??= before.answer.then(goOn, goOn);
    return before.next as Promise<T>;
  };
}
