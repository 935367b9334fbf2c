/** A reply without a model: what is remembered, as cards, made of the receipt of the reply. */

import { useEffect, useRef, useState } from "react";

import { getReceipt, receiptIdOf } from "../../api/receipts";
import { useHouse, useHouseState } from "../../house";
import { useAnswer } from "../../parts/use-answer";
import { follow, go } from "../../router";
import { Card } from "../drawer/card";
import type { Said } from "../talk/said";
import { Words } from "../words/markdown";
import { inPieces } from "../words/recalled-text";

/** Whether a reply quotes what is remembered instead of a model's words. */
export function isRecallReply(message: Said): boolean {
  const pieces = inPieces(message.text);
  return pieces[0]?.kind === "label" && pieces.some((piece) => piece.kind === "recalled");
}

const NOTHING = /^I found nothing related in \*[^\n]*\*\.$/;

/** Whether a reply says that nothing that is remembered is related. */
export function isNothingReply(message: Said): boolean {
  return NOTHING.test(message.text);
}

/** That nothing is related; and, as long as no model is connected, why that is all, and that what was said is remembered. */
export function NothingReply({ message }: { message: Said }) {
  const house = useHouse();
  const { models } = useHouseState();
  return (
    <>
      <Words text={message.text} scope={message.key} />
      {models !== null && !house.hasModel && (
        <p className="hint">
          What you said is remembered. No model is connected, so replies only quote what was said before.{" "}
          <a href="/settings/model" onClick={(event) => follow(event, () => go("/settings/model"))}>Connect a model</a>
        </p>
      )}
    </>
  );
}

/** The quotation as text until the cards are there, and where they cannot be had. */
export function RecallReply({ message, session }: { message: Said; session: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), { rootMargin: "400px" });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const receipt = useAnswer(isSeen && message.id ? receiptIdOf(message.id) : null, getReceipt);
  // As the badge counts them: what is pinned has no strength, and is quoted too.
  const items = receipt.answer?.items ?? [];
  const label = inPieces(message.text)[0];
  return (
    <div ref={place}>
      {items.length === 0 ? (
        <Words text={message.text} scope={message.key} />
      ) : (
        <div className="words">
          <p className="label-note">{label?.kind === "label" ? label.text : ""}</p>
          <ul className="recalled-cards" aria-label="What is remembered">
            {items.map((item) => <Card key={item.id} item={item} session={session} onChanged={receipt.again} />)}
          </ul>
          {receipt.answer?.summary.map((line) => <p key={line} className="hint">{line}.</p>)}
        </div>
      )}
    </div>
  );
}
