import { useState } from "react";

/**
 * useHeld makes a value, keeps it, and makes another one when what it depends on changes. Unlike useMemo
 * it never makes one again without need, not even when a hot reload replaces the component.
 */
export function useHeld<T>(on: readonly unknown[], make: () => T): T {
  const [held, hold] = useState(() => ({ on, value: make() }));
  if (held.on.every((one, i) => one === on[i])) return held.value;
  const next = { on, value: make() };
  hold(next);
  return next.value;
}
