import { useEffect, useId, useRef, type ReactNode } from "react";
import { createPortal } from "react-dom";

import { Icon } from "./icon";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
  /** It shows what is not shown again: only its buttons and Escape close it. */
  isKept?: boolean;
}

const FIELD = ["input:not([hidden])", "textarea", "select"].map((each) => `${each}:enabled`).join();
const SAFE_BUTTON = ".actions button:not(.grave, .primary):enabled";

/** Where one begins: the first field, or else a button that changes nothing. `autoFocus` is too early in a dialog that is not open yet. */
function focusFirst(dialog: HTMLDialogElement): void {
  const field = dialog.querySelector<HTMLElement>("#composer:enabled") ?? dialog.querySelector<HTMLElement>(FIELD);
  const chosen = field instanceof HTMLInputElement && field.type === "radio" ? dialog.querySelector<HTMLElement>("input[type=radio]:checked") : null;
  (chosen ?? field ?? dialog.querySelector<HTMLElement>(SAFE_BUTTON))?.focus();
}

/**
 * The browser's own modal dialog: focus stays inside, Escape closes it, and what is behind is inert. A click outside closes it too, unless
 * something was typed in it.
 */
export function Dialog({ title, onClose, children, className, isKept = false }: Props) {
  /** Whether the pointer went down outside: a selection that is dragged out of a field ends there too. */
  const isOutside = useRef(false);
  const isChanged = useRef(false);
  const shown = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = shown.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      focusFirst(dialog);
    }
    return () => dialog?.close();
  }, []);
  // Outside of what opened it, so that it looks the same wherever that is.
  return createPortal(
    <dialog
      ref={shown}
      className={className}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        isOutside.current = event.target === shown.current;
      }}
      onInput={(event) => {
        // What is typed to be sent is a draft, and outlives the window.
        if ((event.target as HTMLElement).id !== "composer") isChanged.current = true;
      }}
      onClick={(event) => {
        if (event.target === shown.current && isOutside.current && !isChanged.current && !isKept) onClose();
      }}
    >
      <div className="dialog-inside">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" className="quiet" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>,
    document.body,
  );
}
