import type { MouseEvent } from "react";

/** Ignores the second click of a double one: the first may have opened the panel, and moved another button under the pointer. */
export function onFirstClick(act: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.detail < 2) act();
  };
}
