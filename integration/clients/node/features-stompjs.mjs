import { Client } from '@stomp/stompjs';
import WebSocket from 'ws';

await tryFeatures({}, { reconnect });

