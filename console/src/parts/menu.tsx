import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import { Icon, type IconName } from "./icon";

export interface Choice {
  label: string;
  icon: IconName;
  act: () => void;
  grave?: boolean;
}

interface Props {
  label: string;
  choices: Choice[];
  children?: ReactNode;
}

/** A button that opens a list of what can be done; arrow keys walk it, Escape leaves it. */
export function Menu({ label, choices, children }: Props) {
  const [open, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!open) return;
    const shown = list.current;
    shown?.showPopover();
    place(shown, button.current);
    shown?.querySelector("button")?.focus();
    const leave = (event: Event) => {
      if (!shown?.contains(event.target as Node) && !button.current?.contains(event.target as Node)) setOpen(false);
    };
    const away = () => setOpen(false);
    addEventListener("pointerdown", leave);
    addEventListener("resize", away);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("resize", away);
    };
  }, [open]);

  const walk = (event: KeyboardEvent) => {
    const entries = [...(list.current?.querySelectorAll("button") ?? [])];
    const now = entries.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1 + entries.length, Home: 0, End: entries.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      entries[to % entries.length]?.focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      if (event.key === "Escape") event.preventDefault();
      setOpen(false);
      button.current?.focus();
    }
  };

  return (
    <>
      <button
        ref={button}
        type="button"
        className="quiet"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {children ?? <Icon name="more" />}
      </button>
      {open && (
        <div ref={list} id={id} className="menu" role="menu" aria-label={label} popover="manual" onKeyDown={walk}>
          {choices.map((choice) => (
            <button
              key={choice.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={choice.grave ? "grave" : undefined}
              onClick={() => {
                setOpen(false);
                button.current?.focus();
                choice.act();
              }}
            >
              <Icon name={choice.icon} />
              {choice.label}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

/** Below the button where there is room, else above it; never beyond the edges of the window. */
function place(list: HTMLElement | null, button: HTMLElement | null): void {
  if (!list || !button) return;
  const at = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const below = at.bottom + 4 + height <= innerHeight;
  list.style.left = `${Math.max(8, Math.min(at.right - width, innerWidth - width - 8))}px`;
  list.style.top = `${Math.max(8, below ? at.bottom + 4 : at.top - height - 4)}px`;
}
