import { useCallback, useEffect, useState } from "react";

import { sentence } from "../api/client";

export interface Asked<T> {
  answer: T | null;
  problem: string | null;
  again: () => void;
}

/** What the server answers to one question; asked anew when the question changes. `null` asks nothing. */
export function useAnswer<T>(question: string | null, ask: (question: string, signal: AbortSignal) => Promise<T>): Asked<T> {
  const [state, setState] = useState<{ question: string; answer: T | null; problem: string | null } | null>(null);
  const [round, setRound] = useState(0);
  const [asking] = useState(() => ask);
  useEffect(() => {
    if (question === null) return;
    const control = new AbortController();
    asking(question, control.signal)
      .then((answer) => setState({ question, answer, problem: null }))
      .catch((error: unknown) => {
        if (!control.signal.aborted) setState({ question, answer: null, problem: sentence(error) });
      });
    return () => control.abort();
  }, [question, round, asking]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  const current = state?.question === question ? state : null;
  return { answer: current?.answer ?? null, problem: current?.problem ?? null, again };
}
