/** One conversation, in step with the server: what it stores is what is shown, and a running turn is followed whoever began it. */

import { post, Refusal, sessionPath } from "../../api/client";
import { events, type HouseEvent } from "../../api/events";
import { allBranches, createSession, findSession } from "../../api/sessions";
import type { StoredMessage } from "../../api/shapes";
import { drafts, isStored } from "../composer/drafts";
import { isPicture, messagesOf, type Attached, type ReadFile } from "../composer/files";
import { withNames } from "../composer/images";
import { versionsOf, type Versions } from "./branches";
import { loadAround, loadEnd, NOTHING_LOADED, firstWordsOf, upTo, withEnd, withNewer, without, withOlder, type Joining, type Loaded } from "./history";
import { Leaves } from "./leaves";
import { Readings } from "./readings";
import { fromStored, newSaid, upToTheQuestion, type Said } from "./said";
import { IN_PROGRESS, NOTHING_KNOWN, trouble, unchanged, type TalkHost, type TalkState } from "./state";
import { CutOff, followTurn, readShown, startTurnInTime, turnPath, type FinishedReply, type TurnRequest } from "./stream";

const SOON = 80;

export class Talk {
  private state = NOTHING_KNOWN;
  private readonly watchers = new Set<() => void>();
  private loaded: Loaded = NOTHING_LOADED;
  private exists = false;
  private running = false;
  private isPreparing = false;
  /** What had arrived of a reply that broke off, until the server has a reply to the same question. */
  private lost: Said | null = null;
  private lastKey = 0;
  private project: string | null = null;
  private onReplied: () => void = () => undefined;
  /** The keys under which messages are shown that were sent from here. */
  private readonly keys = new Map<string, string>();
  /** Whether the last turn that the server has published is still running. */
  private isTurnOpen = false;
  private readonly readings = new Readings();
  private readonly leaves = new Leaves();

  constructor(
    readonly session: string,
    private readonly host: TalkHost,
  ) {}

  get now(): TalkState {
    return this.state;
  }

  /** Something is being sent, or a reply is awaited or coming. */
  get isBusy(): boolean {
    return this.running || this.isPreparing;
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** The project of a conversation that does not exist yet, and what is done after a reply. */
  give(project: string | null, onReplied: () => void): void {
    this.project = project;
    this.onReplied = onReplied;
  }

  /** Read the conversation, at a message if one is named, and follow it until the function that this returns is called. */
  open(at: string | null): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.catchUp(), SOON);
    };
    void this.catchUp(at);
    const stop = events.listen((event) => this.hear(event, soon));
    return () => {
      clearTimeout(timer);
      stop();
    };
  }

  dismiss = (): void => this.become({ notice: null });

  /** Say something. Files are recorded before it, each as messages with its name; images go with it. Returns those that could not be. */
  async send(text: string, attached: readonly Attached[] = []): Promise<readonly Attached[]> {
    const files = attached.filter((each): each is ReadFile => !isPicture(each));
    const images = attached.filter(isPicture);
    if (this.isBusy) {
      drafts.putBefore(this.session, text);
      return attached;
    }
    const stored = withNames(text, images);
    this.isPreparing = true;
    drafts.sending(this.session, { words: text, stored, after: this.lastQuestion()?.id ?? null }); // given back by a page that is left while files are sent
    const left = await this.prepare(files);
    this.isPreparing = false;
    if (left === null || left.length > 0 || this.isRunning()) {
      drafts.giveBack(this.session);
      return [...(left ?? files), ...images];
    }
    const sent = { words: text, stored, after: this.lastQuestion()?.id ?? null };
    drafts.sending(this.session, sent);
    const isSent = await this.run(this.state.messages, stored, { id: this.session, text, images, trigger: "submit-message" });
    return isSent || isStored(sent, this.lastQuestion()) ? [] : images;
  }

  /** Show the end, and store the files there. Returns those that could not be stored; null if not even the end could be read. */
  private async prepare(files: readonly ReadFile[]): Promise<readonly ReadFile[] | null> {
    try {
      await this.toEnd();
    } catch (error) {
      this.become({ notice: trouble(error) });
      return null;
    }
    return files.length > 0 ? this.attach(files) : [];
  }

  private async attach(files: readonly ReadFile[]): Promise<readonly ReadFile[]> {
    this.become({ busy: true, notice: null });
    const left = [...files];
    let isFirst = this.state.messages.length === 0; // the events of what is stored here arrive in the middle
    try {
      if (!this.exists) await createSession({ external_id: this.session, project_id: this.project });
      for (const file of files) {
        await post(sessionPath(this.session, "/messages/batch"), { messages: messagesOf(file) });
        left.shift();
        if (isFirst) await this.found(file.name);
        isFirst = false;
      }
      await this.reload();
    } catch (error) {
      this.become({ notice: trouble(error) });
    }
    this.become({ busy: false });
    return left;
  }

  /** Say a message of the user in other words, on a branch of its own. Returns whether the server has stored it. */
  async edit(message: Said, text: string): Promise<boolean> {
    if (this.running || message.id === null) return false;
    const base = this.state.messages.slice(0, this.state.messages.indexOf(message));
    return this.run(base, text, { id: this.session, text, trigger: "submit-message", messageId: message.id });
  }

  /** Have a reply made again, on a branch of its own; without one, the last question is answered. */
  async regenerate(reply: Said | null): Promise<void> {
    if (this.running) return;
    const { messages } = this.state;
    const at = reply === null ? messages.length : messages.indexOf(reply);
    const base = upToTheQuestion(messages.slice(0, at));
    const text = base.at(-1)?.text ?? "";
    const messageId = reply?.id ?? base.at(-1)?.id;
    await this.run(base, null, { id: this.session, text, trigger: "regenerate-message", ...(messageId ? { messageId } : {}) });
  }

  async stop(): Promise<void> {
    try {
      await post(turnPath(this.session, "stop"));
    } catch (error) {
      this.become({ notice: trouble(error) });
    }
  }

  /** Show another version of a message, with what followed it. */
  async choose(message: string): Promise<void> {
    try {
      this.leaves.note(this.loaded);
      await this.leaves.choose(this.session, message);
      this.readings.expectFewer();
      // In the middle of a conversation, what is loaded is of the other branch.
      await this.reload(this.loaded.newer === null ? null : message);
    } catch (error) {
      this.become({ notice: error instanceof Refusal && error.code === "turn_in_progress" ? IN_PROGRESS : trouble(error) });
    }
  }

  /** Ask again for what the server did not show. */
  retry = (): Promise<void> => this.catchUp();

  /** Carry out a deletion that says what it has deleted, also where it fails; then read again, at a message if one is named. */
  async deleting(act: (onGone: (message: string) => void) => Promise<void>, at: string | null): Promise<void> {
    const gone = new Set<string>();
    try {
      await this.readings.whileDeleting(() => act((message) => gone.add(message)));
    } finally {
      this.loaded = without(this.loaded, gone);
      if (!this.running) await this.reload(this.loaded.newer === null ? null : at);
    }
  }

  loadOlder = (): Promise<void> => this.extend(withOlder);

  loadNewer = (): Promise<void> => this.extend(withNewer);

  /** Nothing is shown of it if something else was loaded meanwhile. */
  private async extend(by: (session: string, loaded: Loaded) => Promise<Loaded>): Promise<void> {
    const before = this.loaded;
    const loaded = await by(this.session, before);
    if (!this.running && this.loaded === before) this.show(loaded);
  }

  /** Load the end, if the part that is loaded is not the end. */
  async toEnd(): Promise<void> {
    if (this.loaded.newer !== null) this.show(await loadEnd(this.session));
  }

  async openAt(message: string): Promise<void> {
    if (this.loaded.messages.some((each) => each.id === message)) return;
    try {
      this.show(await loadAround(this.session, message));
    } catch {
      this.become({ notice: { tone: "calm", text: "That message is no longer in this conversation." } });
    }
  }

  private hear(event: HouseEvent, soon: () => void): void {
    if (event.type !== "reset" && event.session_id !== this.session) return;
    if (event.type === "reset" && this.state.notice?.isPassing) this.dismiss();
    if (event.type === "turn.started") this.isTurnOpen = true;
    // After a reset nothing is known of turns: the server that ran one may have been killed.
    if (event.type === "turn.finished" || event.type === "reset") this.isTurnOpen = false;
    if (this.running) return;
    if (event.type === "session.deleted") void this.reload();
    else soon();
  }

  /** What the server stores, and the turn that runs there, if one does. */
  private async catchUp(at: string | null = null): Promise<void> {
    if (this.running || !(await this.reload(at)) || this.isRunning() || !this.exists) return;
    this.settle();
    const response = await followTurn(this.session).catch(() => null);
    if (response === null) return;
    if (this.isRunning()) {
      await response.body?.cancel();
      return;
    }
    await this.follow(upToTheQuestion(this.state.messages), () => Promise.resolve(response));
  }

  /** Read again what is shown. Returns whether the server could be asked. */
  private async reload(at: string | null = null): Promise<boolean> {
    if (!this.exists && !this.host.mayExist()) {
      this.become({ phase: "new", messages: [] });
      return true;
    }
    const reading = this.readings.begin();
    try {
      // Asked at once where it is known to be there; one that is missing is no error in the browser's console.
      const [found, early] = await Promise.all([findSession(this.session), this.exists || this.host.isListed() ? this.read(at) : null]);
      if (this.running) return true;
      if (found === null) {
        this.lose();
        return true;
      }
      const joined = early ?? (await this.read(at));
      const versions = found.is_forked ? versionsOf(await allBranches(this.session)) : new Map<string, Versions>();
      if (this.isRunning() || !this.readings.takes(reading)) return true;
      this.become({ versions });
      // What others have deleted may be anywhere in what was loaded: only the end is left, and the rest is loaded again.
      const isStale = this.readings.hasFallen(found.message_count);
      this.show(!isStale ? joined(this.loaded) : this.loaded.newer === null ? joined(NOTHING_LOADED) : await loadEnd(this.session));
      await this.found(null);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === "not_found") {
        if (!this.isRunning()) this.lose();
        return true;
      }
      const isRefused = error instanceof Refusal;
      if (this.state.phase === "loading" || this.state.phase === "refused") this.become({ phase: isRefused ? "refused" : "unreachable", ...(isRefused ? { notice: trouble(error) } : {}) });
      return false;
    }
  }

  private async read(at: string | null): Promise<Joining> {
    if (at !== null) {
      try {
        const around = await loadAround(this.session, at);
        return () => around;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.become({ notice: { tone: "calm", text: "That message is no longer in this conversation." } });
      }
    }
    // Somewhere in the middle: what comes at the end is loaded when the reader gets there.
    if (this.loaded.newer !== null) return (now) => now;
    const end = await loadEnd(this.session);
    return (now) => (now.newer === null ? withEnd(now, end) : now);
  }

  private lose(): void {
    const phase = this.exists ? "gone" : this.host.isAddressed() ? "missing" : "new";
    this.exists = false;
    this.loaded = NOTHING_LOADED;
    this.become({ phase, messages: [], versions: new Map() });
  }

  /** It exists. `firstWords` are the first that were said in it, if they were said here just now: it may have existed before them. */
  private async found(firstWords: string | null): Promise<void> {
    const isNew = !this.exists;
    this.exists = true;
    this.become({ phase: "here" });
    if (isNew || firstWords !== null) await this.host.onExists(firstWords);
  }

  private show(loaded: Loaded): void {
    this.loaded = loaded;
    const messages = loaded.messages.flatMap((each) => fromStored(each, this.keys.get(each.id), loaded.receipts.get(each.id)) ?? []);
    if (messages.at(-1)?.role !== "user") this.lost = null;
    else if (this.lost && loaded.newer === null) messages.push(this.lost);
    this.become({ messages: unchanged(this.state.messages, messages), hasOlder: loaded.older !== null, hasNewer: loaded.newer !== null });
  }

  /** Send a request and show its reply as it comes. What was not stored is not shown as said: it goes back into the field. */
  private async run(base: readonly Said[], words: string | null, request: TurnRequest): Promise<boolean> {
    this.leaves.note(this.loaded);
    const before = this.state.messages;
    const question = words === null ? [] : [newSaid(this.newKey(), "user", words, "sending")];
    let isStored = false;
    await this.follow([...base, ...question], async () => {
      try {
        const response = await startTurnInTime({ ...request, ...(this.exists ? {} : { project: this.project }) });
        isStored = true;
        this.readings.expectFewer();
        this.loaded = upTo(this.loaded, base.at(-1)?.id ?? null);
        drafts.sent(this.session);
        this.become({ messages: this.state.messages.map((each) => (each.status === "sending" ? { ...each, status: "completed" } : each)) });
        void this.found(before.length === 0 ? words : null);
        return response;
      } catch (error) {
        this.become({ messages: before });
        drafts.giveBack(this.session);
        throw error;
      }
    });
    return isStored;
  }

  private async follow(base: readonly Said[], start: () => Promise<Response>): Promise<void> {
    this.running = true;
    this.become({ messages: base, busy: true, notice: null });
    const reply = newSaid(this.newKey(), "assistant", "", "writing");
    let error: unknown = null;
    try {
      const response = await start();
      this.finish(reply.key, await this.readInto(reply, response));
    } catch (caught) {
      error = caught;
    }
    this.running = false;
    await this.afterTurn(error);
  }

  private async afterTurn(error: unknown): Promise<void> {
    if (error instanceof Refusal && error.code === "turn_in_progress") this.become({ notice: IN_PROGRESS });
    else if (error !== null && !(error instanceof CutOff)) this.become({ notice: trouble(error) });
    const known = await this.reload();
    // Not before: what was said last has its id only now, and cannot be edited without it.
    this.become({ busy: this.isRunning() });
    if (error instanceof CutOff && !known) this.become({ notice: trouble(error) });
    if (!known || this.isRunning()) return;
    if (error === null) this.onReplied();
    if (error === null && this.state.messages.at(-1)?.status === "completed") void this.host.onReplied(firstWordsOf(this.loaded));
    if (error !== null || this.isTurnOpen) await this.catchUp();
  }

  /** Show a reply as it is written. If it breaks off, what had arrived is kept: the server may not have stored it. */
  private async readInto(reply: Said, response: Response): Promise<FinishedReply> {
    this.lost = null;
    let shown = reply;
    try {
      return await readShown(response, (arrived) => {
        shown = { ...reply, ...arrived };
        const others = this.state.messages.filter((each) => each.key !== reply.key);
        this.become({ messages: [...others, shown] });
      });
    } catch (error) {
      if (shown.text) this.lost = { ...shown, status: "lost" };
      this.become({ messages: this.state.messages.map((each) => (each === shown && this.lost ? this.lost : each)) });
      throw error;
    }
  }

  /** The reply has its id now, and so has its question. */
  private finish(key: string, { end, error }: FinishedReply): void {
    const reply = this.state.messages.find((each) => each.key === key);
    if (end?.message_id) this.keys.set(end.message_id, key);
    const question = this.state.messages.findLast((each) => each.role === "user" && each.id === null);
    if (end?.question_id && question) this.keys.set(end.question_id, question.key);
    const fresh = new Set(this.state.fresh).add(key);
    const messages = this.state.messages.map((each) => (each === reply ? { ...each, status: end?.status ?? ("failed" as const), id: end?.message_id ?? null, error } : each));
    this.become({ messages, fresh });
    // An error that is stored with the reply is shown there, and not twice.
    if (error !== null && (!end?.message_id || end.is_current === false)) this.become({ notice: { tone: "trouble", text: error } });
  }

  /** Words that came back, and are among what the server has stored after all, go again: only the answer to them was lost. */
  private settle(): void {
    drafts.settle(this.session, this.lastQuestion());
  }

  private lastQuestion(): StoredMessage | null {
    return this.loaded.messages.findLast((each) => each.role === "user") ?? null;
  }

  private isRunning(): boolean {
    return this.running;
  }

  private newKey(): string {
    return `here-${(this.lastKey += 1)}`;
  }

  private become(change: Partial<TalkState>): void {
    this.state = { ...this.state, ...change };
    this.watchers.forEach((watcher) => watcher());
  }
}
