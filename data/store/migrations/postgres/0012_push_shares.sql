-- +goose Up

-- client stands for the network that subscribed (push.Subscription), so that none has too large a share; lakes is how many the subscription has in
-- push_lakes. told is 1 once its push service took a message. ready_at is when the subscription may be told of something, NULL if nothing waits: the
-- queue need not be searched for that.
ALTER TABLE limnomap.push_subscriptions ADD COLUMN client text NOT NULL DEFAULT '';
ALTER TABLE limnomap.push_subscriptions ADD COLUMN lakes integer NOT NULL DEFAULT 0;
ALTER TABLE limnomap.push_subscriptions ADD COLUMN told integer NOT NULL DEFAULT 0;
ALTER TABLE limnomap.push_subscriptions ADD COLUMN ready_at bigint;

UPDATE limnomap.push_subscriptions SET lakes = (SELECT count(*) FROM limnomap.push_lakes AS l WHERE l.subscription = limnomap.push_subscriptions.id),
	ready_at = (SELECT CASE WHEN next_at > min(q.due_at) THEN next_at ELSE min(q.due_at) END FROM limnomap.push_queue AS q WHERE q.subscription = limnomap.push_subscriptions.id);

CREATE INDEX push_subscriptions_ready ON limnomap.push_subscriptions (ready_at) WHERE ready_at IS NOT NULL;

-- Each new subscription counts those that there are.
CREATE INDEX push_subscriptions_client ON limnomap.push_subscriptions (client, lakes);

-- Of the queue only what is urgent is looked up by its time, which is 0 (push.AtOnce).
DROP INDEX limnomap.push_queue_due;
CREATE INDEX push_queue_urgent ON limnomap.push_queue (subscription) WHERE due_at = 0;

-- Up to which event and subscription what is urgent was put into the queue: before all else. Of an event of which not all subscriptions had their
-- turn, those that had may be told twice.
ALTER TABLE limnomap.push_state ADD COLUMN urgent_seq bigint;
ALTER TABLE limnomap.push_state ADD COLUMN urgent_subscription text COLLATE "C" NOT NULL DEFAULT '~';
UPDATE limnomap.push_state SET urgent_seq = CASE WHEN after_subscription = '~' THEN after_seq ELSE after_seq - 1 END;
